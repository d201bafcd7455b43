/**
 * The real program against stores that answer without end, or not at all: `npm run test:answers -- [--kind s3,webdav]
 * [--manner list-body,header] [--command snapshots,check] [--interrupt SECONDS]`. Each command runs at a terminal.
 */
import { mkdtempSync, mkdirSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { randomBytes } from 'node:crypto';
import { parseArgs } from 'node:util';
import ssh2 from 'ssh2';
import { mostMemory } from '../../src/destination/rclone/memory-watch.ts';
import { executable } from '../support/executable.ts';
import { removeTree } from '../support/remove-tree.ts';
import { startFront } from './front.ts';
import { KINDS, type Kind } from './kinds.ts';
import { MANNERS, SILENT } from './manners.ts';
import { SSH_MANNERS, startSshSite } from './sftp.ts';
import { watchRun, type WatchedRun } from './watched-run.ts';

const MOST_MB = 100;
/** What rclone may take, and what it takes more until that is seen. */
const MOST_RCLONE_MB = mostMemory() / 1e6 + 500;
const MOST_SILENT_MS = 10_000;
const MOST_INTERRUPT_MS = 2_000;
const GRACE_S = 30;

const { values } = parseArgs({
  options: {
    kind: { type: 'string' },
    manner: { type: 'string' },
    command: { type: 'string', default: 'snapshots,restore,check' },
    interrupt: { type: 'string' },
    words: { type: 'boolean', default: false },
    program: { type: 'string', default: executable },
  },
});
const commands = values.command.split(',');
const print = (text: string): void => void process.stdout.write(`${text}\n`);

interface Site {
  readonly directory: string;
  env(state: string): Record<string, string>;
  readonly location: string;
}

function wordsOf(command: string, { location, directory }: Site): string[] {
  const rest: Readonly<Record<string, readonly string[]>> = {
    restore: ['latest', '--target', join(directory, `o-${randomBytes(4).toString('hex')}`)],
    backup: [join(directory, 'source')],
  };
  return [process.execPath, values.program, command, '-r', location, ...(rest[command] ?? [])];
}

/** Seconds from `ms` on to the first word, the longest time without a new one, and to the end. */
function timesOf(run: WatchedRun, ms: number): { first: string; silence: number; end: number } {
  const after = run.words.filter((word) => word.ms >= ms);
  const marks = [ms, ...after.map((word) => word.ms), run.endedMs];
  const gaps = marks.slice(1).map((mark, at) => mark - (marks[at] ?? mark));
  const [first] = after;
  return {
    first: first === undefined ? '-' : ((first.ms - ms) / 1000).toFixed(1),
    silence: Math.max(...gaps) / 1000,
    end: (run.endedMs - ms) / 1000,
  };
}

function lastWords({ words }: WatchedRun): string {
  const text = words.map((word) => word.text).join('');
  const at = text.lastIndexOf('Error:');
  return (at === -1 ? text.slice(-200) : text.slice(at)).trim().replaceAll('\n', ' | ').slice(0, 700);
}

/** A place that answers well until it is told how to answer. */
interface Trial extends AsyncDisposable {
  readonly name: string;
  readonly location: string;
  readonly variables: Readonly<Record<string, string>>;
  /** Seconds by name. */
  readonly bounds: Readonly<Record<string, number>>;
  misbehave(manner: string | undefined): void;
  seen(): { readonly firstMs: number | undefined; readonly count: number };
}

async function httpTrial(kind: Kind): Promise<Trial> {
  const store = await kind.start();
  const front = await startFront(store.origin, (asked) => kind.subjectOf(asked));
  return {
    name: kind.name,
    location: kind.location(front.origin),
    variables: kind.variables(front.origin),
    bounds: Object.fromEntries(
      Object.entries(MANNERS).map(([name, { on, bound }]) => [
        name,
        Math.max(
          bound,
          (bound === SILENT && on.includes('pack') ? kind.another?.standsStill : kind.another?.rest) ?? 0,
        ),
      ]),
    ),
    misbehave: (name) => {
      const manner = name === undefined ? undefined : MANNERS[name];
      front.misbehave = manner && { on: manner.on, by: manner.by(kind.speech) };
      if (manner === undefined) return;
      front.firstMs = undefined;
      front.count = 0;
    },
    seen: () => front,
    async [Symbol.asyncDispose]() {
      await front[Symbol.asyncDispose]();
      await store[Symbol.asyncDispose]();
    },
  };
}

async function sftpTrial(): Promise<Trial> {
  const site = await startSshSite();
  const hosts = join(mkdtempSync(join(tmpdir(), 'holdfast-answers-hosts-')), 'known_hosts');
  writeFileSync(hosts, `[127.0.0.1]:${site.port} ${site.publicKey}\n`);
  const key = join(hosts, '..', 'key');
  writeFileSync(key, ssh2.utils.generateKeyPairSync('ecdsa', { bits: 256 }).private, { mode: 0o600 });
  return {
    name: 'sftp',
    location: `sftp://keeper@127.0.0.1:${site.port}/keep/p`,
    variables: { HOLDFAST_SFTP_HOST_KEY_FILE: hosts, HOLDFAST_SFTP_KEY_FILE: key },
    bounds: Object.fromEntries(Object.entries(SSH_MANNERS).map(([name, { bound }]) => [name, bound])),
    misbehave: (name) => {
      site.misbehave(name === undefined ? undefined : SSH_MANNERS[name]);
      if (name === undefined) return;
      site.firstMs = undefined;
      site.count = 0;
    },
    seen: () => site,
    async [Symbol.asyncDispose]() {
      await site[Symbol.asyncDispose]();
      removeTree(join(hosts, '..'));
    },
  };
}

async function tryPlace(trial: Trial): Promise<void> {
  const directory = mkdtempSync(join(tmpdir(), `holdfast-answers-${trial.name}-`));
  try {
    mkdirSync(join(directory, 'source'));
    for (let index = 0; index < 4; index += 1)
      writeFileSync(join(directory, 'source', `f${index}`), randomBytes(10_000_000));
    const site: Site = {
      directory,
      location: trial.location,
      env: (state) => ({
        PATH: process.env['PATH'] ?? '',
        HOME: join(directory, 'home'),
        HOLDFAST_STATE_DIR: join(directory, state),
        HOLDFAST_PASSWORD: 'correct horse battery staple',
        HOLDFAST_TEST_KDF: '64,1,1',
        HOLDFAST_PROGRAM: 'holdfast',
        ...trial.variables,
      }),
    };
    const run = async (command: string, state: string, more: object = {}): Promise<WatchedRun> =>
      await watchRun({
        words: wordsOf(command, site),
        env: site.env(state),
        cwd: directory,
        atMostMs: 1_200_000,
        ...more,
      });
    for (const command of ['init', 'backup']) {
      const { code, words } = await run(command, 'first');
      if (code !== 0)
        throw new Error(
          `${command} on ${trial.name}: ${words
            .map(({ text }) => text)
            .join('')
            .slice(-500)}`,
        );
    }
    const manners = Object.entries(trial.bounds).filter(
      ([name]) => values.manner === undefined || values.manner.split(',').includes(name),
    );
    for (const command of commands) {
      const good = await run(command, `good-${command}`);
      if (good.code !== 0) throw new Error(`${command}: ${lastWords(good)}`);
      print(
        `${trial.name} ${command}: well answered ${good.peakMb.toFixed(0)} MB, ${((good.endedMs - good.beganMs) / 1000).toFixed(1)} s`,
      );
      for (const [name, bound] of manners) {
        trial.misbehave(name);
        const state = `bad-${randomBytes(4).toString('hex')}`;
        const more =
          values.interrupt === undefined
            ? {}
            : { interruptAfter: { since: () => trial.seen().firstMs, ms: Number(values.interrupt) * 1_000 } };
        const bad = await run(command, state, more);
        trial.misbehave(undefined);
        // A backup stores again what it cannot read, and says so.
        const mayEnd = values.interrupt !== undefined || (command === 'backup' && name.startsWith('pack-'));
        report({ name, bound, mayEnd }, good, bad, trial.seen());
      }
    }
  } finally {
    removeTree(directory);
  }
}

function report(
  { name, bound, mayEnd }: { readonly name: string; readonly bound: number; readonly mayEnd: boolean },
  good: WatchedRun,
  bad: WatchedRun,
  { firstMs, count }: ReturnType<Trial['seen']>,
): void {
  if (firstMs === undefined) {
    print(`  ${name}: never asked; code ${bad.code}; ${lastWords(bad)}`);
    return;
  }
  const { first, silence, end } = timesOf(bad, firstMs);
  const more = bad.peakMb - good.peakMb;
  const faults = [
    ...(more > MOST_MB || bad.rcloneMb > MOST_RCLONE_MB ? ['MEMORY'] : []),
    ...(silence * 1000 > MOST_SILENT_MS ? ['SILENT'] : []),
    ...(end > bound + GRACE_S ? ['LATE'] : []),
    ...(bad.code === 0 && !mayEnd ? ['TAKEN'] : []),
    ...((bad.interruptMs ?? 0) > MOST_INTERRUPT_MS ? ['DEAF'] : []),
  ];
  if (faults.length > 0) process.exitCode = 1;
  const rclone = bad.rcloneMb === 0 ? '' : `, rclone ${bad.rcloneMb.toFixed(0)} MB`;
  const stopped =
    bad.interruptMs === undefined ? '' : `, ${(bad.interruptMs / 1000).toFixed(1)} s after Ctrl-C`;
  print(
    `  ${name}: ${faults.length === 0 ? 'ok' : faults.join(' ')}; ${bad.peakMb.toFixed(0)} MB (${more > 0 ? '+' : ''}${more.toFixed(0)})${rclone}; asked ${count}; first word ${first} s, silent ${silence.toFixed(1)} s, end ${end.toFixed(1)} s${stopped}; code ${bad.code}; ${lastWords(bad)}`,
  );
  if (values.words)
    for (const { ms, text } of bad.words)
      print(`      ${((ms - firstMs) / 1000).toFixed(1)} ${JSON.stringify(text)}`);
}

const wanted = values.kind?.split(',');
for (const kind of KINDS)
  if (wanted?.includes(kind.name) !== false) {
    await using trial = await httpTrial(kind);
    await tryPlace(trial);
  }
if (wanted?.includes('sftp') !== false) {
  await using trial = await sftpTrial();
  await tryPlace(trial);
}
