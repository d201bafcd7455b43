/**
 * Holdfast beside restic over a line to a far server: `node far-bench.ts DIR [--kind s3|sftp] [--round-trip MS]
 * [--mbit N] [--rounds N] [--holdfast FILE] [--timeline]`. The server (OpenSSH, or moto for S3, which keeps everything in memory) runs on this
 * machine behind a proxy that adds the round trip and holds the rate. The tools take turns: first backup, backup with
 * nothing changed, restore to memory. Prints seconds, the ratio, what went over the line, and the share of the line's
 * rate that was used; with `--timeline`, what share of it in each half second. Restores are compared with the source in the first round.
 */

import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { loadavg, tmpdir } from 'node:os';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { startMoto } from '../servers/moto.ts';
import { startOpenSsh } from '../servers/open-ssh.ts';
import { compareTrees, shownDifference } from '../support/compare-trees.ts';
import { removeTree } from '../support/remove-tree.ts';
import { treePath } from '../../src/base/tree-path.ts';
import { farLink, type FarLink } from './far-link.ts';
import { timedRun, type Command } from './timed-run.ts';
import { readAll } from './warm-cache.ts';

const TOOLS = ['holdfast', 'restic'] as const;
type Tool = (typeof TOOLS)[number];
const STEPS = ['first', 'unchanged', 'restore'] as const;
type Step = (typeof STEPS)[number];

const PASSPHRASE = 'correct horse battery staple';
const BUCKET = 'far-bench';
const TIMEOUT_SECONDS = 1_200;
const TIMELINE_MS = 500;

const print = (text: string): void => void process.stdout.write(`${text}\n`);

/** How a tool reaches a new repository by way of the line. */
interface Reach {
  readonly repository: (tool: Tool, name: string) => string;
  readonly environment: Readonly<Record<string, string>>;
  readonly resticOptions: readonly string[];
}

interface Site extends AsyncDisposable {
  readonly link: FarLink;
  readonly reach: Reach;
}

interface Line {
  readonly roundTripMs: number;
  readonly bitsPerSecond: number;
}

async function s3Site(line: Line): Promise<Site> {
  const server = await startMoto();
  const target = Number(new URL(server.endpoint).port);
  const made = await fetch(`${server.endpoint}/${BUCKET}`, { method: 'PUT' });
  if (!made.ok) throw new Error(`the bucket cannot be made: ${made.status}`);
  const link = await farLink({ ...line, target });
  const endpoint = `http://127.0.0.1:${link.port}`;
  return {
    link,
    reach: {
      repository: (tool, name) =>
        tool === 'restic'
          ? `s3:${endpoint}/${BUCKET}/${name}`
          : `s3://${BUCKET}/${name}?endpoint=${endpoint}&region=us-east-1&path_style=true`,
      environment: {
        AWS_ACCESS_KEY_ID: server.accessKeyId,
        AWS_SECRET_ACCESS_KEY: server.secretAccessKey,
        AWS_DEFAULT_REGION: 'us-east-1',
      },
      resticOptions: [],
    },
    async [Symbol.asyncDispose]() {
      await link[Symbol.asyncDispose]();
      await server[Symbol.asyncDispose]();
    },
  };
}

async function sftpSite(line: Line, scratch: string): Promise<Site> {
  const server = await startOpenSsh();
  const link = await farLink({ ...line, target: server.port });
  const knownHosts = path.join(scratch, 'known_hosts');
  const [type = '', key = ''] = readFileSync(server.hostKeyFile, 'utf8').split(' ');
  writeFileSync(knownHosts, `[127.0.0.1]:${link.port} ${type} ${key.trim()}\n`);
  const ssh = `ssh -p ${link.port} -i ${server.keyFile} -o UserKnownHostsFile=${knownHosts} ${server.user}@127.0.0.1 -s sftp`;
  return {
    link,
    reach: {
      repository: (tool, name) =>
        tool === 'restic'
          ? `sftp:${server.user}@127.0.0.1:${server.data}/${name}`
          : `sftp://${server.user}@127.0.0.1:${link.port}${server.data}/${name}`,
      environment: {
        HOLDFAST_SFTP_KEY_FILE: server.keyFile,
        HOLDFAST_SFTP_HOST_KEY_FILE: server.hostKeyFile,
      },
      resticOptions: ['-o', `sftp.command=${ssh}`],
    },
    async [Symbol.asyncDispose]() {
      await link[Symbol.asyncDispose]();
      await server.stop();
    },
  };
}

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    kind: { type: 'string', default: 's3' },
    'round-trip': { type: 'string', default: '80' },
    mbit: { type: 'string', default: '100' },
    rounds: { type: 'string', default: '3' },
    timeline: { type: 'boolean', default: false },
    holdfast: { type: 'string', default: path.join(import.meta.dirname, '../../service/bin/holdfast.js') },
  },
});
const source = path.resolve(positionals[0] ?? '.');
const line: Line = { roundTripMs: Number(values['round-trip']), bitsPerSecond: Number(values.mbit) * 1e6 };
const scratch = mkdtempSync(path.join(tmpdir(), 'holdfast-far-'));
const memory = mkdtempSync('/dev/shm/holdfast-far-');
const figures: {
  readonly step: Step;
  readonly tool: Tool;
  readonly seconds: number;
  readonly bytes: number;
}[] = [];

function commandOf(tool: Tool, step: Step | 'init', name: string, { repository, ...reach }: Reach): Command {
  const at = repository(tool, name);
  const state = path.join(scratch, `${tool}-${name}`);
  mkdirSync(state, { recursive: true, mode: 0o700 });
  const target = path.join(memory, tool);
  if (tool === 'holdfast') {
    const words = {
      init: ['init', '-r', at],
      first: ['backup', '-r', at, source],
      unchanged: ['backup', '-r', at, source],
      restore: ['restore', '-r', at, 'latest', '--target', target],
    }[step];
    return {
      program: process.execPath,
      parameters: [path.resolve(values.holdfast), ...words],
      environment: { ...reach.environment, HOLDFAST_PASSWORD: PASSPHRASE, HOLDFAST_STATE_DIR: state },
      success: [0],
    };
  }
  const words = {
    init: ['init'],
    first: ['backup', source],
    unchanged: ['backup', source],
    restore: ['restore', 'latest', '--target', target],
  }[step];
  return {
    program: 'restic',
    parameters: ['--quiet', '--cache-dir', state, '--repo', at, ...reach.resticOptions, ...words],
    environment: { ...reach.environment, RESTIC_PASSWORD: PASSPHRASE },
    success: [0],
  };
}

/** Notes what passes; returns what ends that, with percentages of the line's rate, up and down. */
function timeline(link: FarLink): () => string {
  const shares: string[] = [];
  let [last, lastMs] = [link.passed, performance.now()];
  const timer = setInterval(() => {
    const [now, nowMs] = [link.passed, performance.now()];
    const most = ((nowMs - lastMs) / 1_000) * (line.bitsPerSecond / 8);
    const percent = (bytes: number): string => ((bytes / most) * 100).toFixed(0);
    shares.push(`${percent(now.up - last.up)}/${percent(now.down - last.down)}`);
    [last, lastMs] = [now, nowMs];
  }, TIMELINE_MS);
  return () => {
    clearInterval(timer);
    return shares.join(' ');
  };
}

async function run(tool: Tool, step: Step | 'init', round: number, { link, reach }: Site): Promise<void> {
  const before = link.passed;
  const limits = { timeoutSeconds: TIMEOUT_SECONDS, outputFile: path.join(scratch, 'output') };
  readAll(source);
  const command = commandOf(tool, step, `${tool}-${round}`, reach);
  const endTimeline = timeline(link);
  const { wallSeconds: seconds } = await timedRun(command, limits, AbortSignal.timeout(3_600_000));
  const shares = endTimeline();
  if (step === 'init') return;
  const after = link.passed;
  const bytes = Math.max(after.up - before.up, after.down - before.down);
  figures.push({ step, tool, seconds, bytes });
  const share = (bytes * 8) / line.bitsPerSecond / seconds;
  print(
    `round ${round} ${step}: ${tool} ${seconds.toFixed(2)} s, ${(bytes / 1e6).toFixed(1)} MB over the line, ` +
      `${(share * 100).toFixed(0)} % of its rate, load ${loadavg()[0]?.toFixed(1)}`,
  );
  if (values.timeline) print(`  ${shares}`);
  if (step !== 'restore') return;
  const restored = path.join(memory, tool);
  const [first] = round === 1 ? compareTrees(source, path.join(restored, source), { holes: false }) : [];
  if (first !== undefined) print(`  differs: ${shownDifference(first)}`);
  removeTree(restored);
}

function median(step: Step, tool: Tool): number {
  const sorted = figures
    .filter((one) => one.step === step && one.tool === tool)
    .map(({ seconds }) => seconds);
  sorted.sort((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)] ?? Number.NaN;
}

try {
  await using site = values.kind === 'sftp' ? await sftpSite(line, scratch) : await s3Site(line);
  print(
    `${values.kind}, ${values['round-trip']} ms there and back, ${values.mbit} Mbit/s, ${treePath(source)}`,
  );
  print(spawnSync('restic', ['version'], { encoding: 'utf8' }).stdout.trim());
  for (let round = 1; round <= Number(values.rounds); round += 1) {
    for (const tool of TOOLS) await run(tool, 'init', round, site);
    for (const step of STEPS) for (const tool of TOOLS) await run(tool, step, round, site);
  }
  for (const step of STEPS) {
    const [ours, theirs] = [median(step, 'holdfast'), median(step, 'restic')];
    print(`${step}: ${ours.toFixed(2)} s against ${theirs.toFixed(2)}: ${(ours / theirs).toFixed(2)}`);
  }
} finally {
  removeTree(scratch);
  removeTree(memory);
}
