/**
 * Everything that a machine knew is gone: `node lost-machine-bench.ts DIR [--count N] [--keep]`. In DIR it makes a source of
 * a million small files (once) and backs it up, and then goes through what a person does on a new machine who has the
 * repository and the recovery code: bring one file back, bring everything back, and let the agent carry on. Prints how
 * long the first file takes (of one that was asked for, and of everything), and what the next backup stores. The program
 * must be built.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, readFileSync, readdirSync, statSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { removeTree } from '../support/remove-tree.ts';
import { prepareAgent, startAgent, storeSettings, type RunningAgent } from '../sweep/agent-program.ts';
import { executable } from '../support/executable.ts';
import { environment, jsonLines, succeed, type Place } from '../sweep/program.ts';
import { listRepository } from '../sweep/stored-objects.ts';
import { makeManyFiles } from './make-many-files.ts';

/** To the first file, in seconds. */
const MOST_SECONDS = 60;
/** Of what the first backup stored: records, a lease, and the tree chunks above the source. */
const MOST_AGAIN = 0.001;
const SEED = 1;

const print = (text: string): void => void process.stdout.write(`${text}\n`);

interface Lost {
  readonly source: string;
  readonly repository: string;
  readonly recoveryCode: string;
  readonly storedBytes: number;
}

/** The machine that will be lost; its passphrase goes with it. */
async function backUp(directory: string, count: number): Promise<Lost> {
  const source = join(directory, 'source');
  if (!existsSync(source)) makeManyFiles(source, count, SEED, () => {});
  const repository = join(directory, 'repository');
  const kept = join(directory, 'recovery-code');
  const place = machine(directory, 'lost', 'a passphrase that only the lost machine had', repository);
  if (!existsSync(kept)) {
    const [made] = jsonLines(await succeed(place, ['init', '--json'], AT_FULL_COST));
    const began = performance.now();
    const saved = await succeed(place, ['backup', source, '--json'], AT_FULL_COST);
    const summary = jsonLines(saved).at(-1);
    print(`first backup: ${String(summary?.['files_total'])} files in ${since(began)} s`);
    writeFileSync(kept, String(made?.['recovery_code']), { mode: 0o600 });
  }
  removeTree(place.state);
  removeTree(place.cache);
  return { source, repository, recoveryCode: readFileSync(kept, 'utf8'), storedBytes: bytesIn(repository) };
}

/** A passphrase costs what it does everywhere. */
const AT_FULL_COST = { HOLDFAST_TEST_KDF: undefined };

function machine(directory: string, name: string, passphrase: string, repository: string): Place {
  const state = join(directory, name);
  return { repository, state, cache: join(directory, `${name}-cache`), passphrase };
}

async function restoreOne(lost: Lost, place: Place, directory: string): Promise<number> {
  const wanted = someFile(lost.source);
  const target = join(directory, 'one');
  const began = performance.now();
  await succeed(place, ['restore', 'latest', wanted, '--target', target, '--quiet'], AT_FULL_COST);
  const seconds = (performance.now() - began) / 1_000;
  if (!readFileSync(join(target, wanted)).equals(readFileSync(wanted)))
    throw new Error(`${wanted} came back as something else`);
  removeTree(target);
  return seconds;
}

/** Until a file with content stands under its own name; what comes after is of no interest here. */
async function restoreAll(place: Place, directory: string): Promise<number> {
  const target = join(directory, 'all');
  const began = performance.now();
  const child = spawn(process.execPath, [executable, 'restore', 'latest', '--target', target, '--quiet'], {
    stdio: 'ignore',
    env: environment(place, AT_FULL_COST),
  });
  const ended = once(child, 'exit');
  try {
    for (;;) {
      if (someFileIfAny(target) !== undefined) return (performance.now() - began) / 1_000;
      if (child.exitCode !== null) throw new Error(`the restore ended with ${child.exitCode}`);
      await delay(50);
    }
  } finally {
    child.kill('SIGKILL');
    await ended;
    removeTree(target);
  }
}

/** The agent of the new machine, told of the repository and the recovery code, backs up the same source. */
async function carryOn(lost: Lost, place: Place): Promise<Readonly<Record<string, unknown>>> {
  const prepared = await prepareAgent(place, storeSettings(place));
  const agent: RunningAgent = await startAgent(prepared, AT_FULL_COST);
  try {
    const { id } = await agent.submit('/backup', { source: lost.source });
    for (;;) {
      const { status, data } = await agent.ask('GET', `/backup/${id}`);
      const job = data as Readonly<Record<string, unknown>>;
      if (status !== 200) throw new Error(`the job was answered with ${status}`);
      if (job['finished_at'] !== null) return job;
      await delay(500);
    }
  } finally {
    await agent.stop();
  }
}

function someFile(directory: string): string {
  const found = someFileIfAny(directory);
  if (found === undefined) throw new Error(`there is no file in ${directory}`);
  return found;
}

/** The last of the deepest directory on the way: the search begins where a restore ends. */
function someFileIfAny(directory: string): string | undefined {
  if (!existsSync(directory)) return undefined;
  const entries = readdirSync(directory, { withFileTypes: true }).toReversed();
  for (const entry of entries) {
    const path = join(directory, entry.name);
    if (entry.isFile() && !entry.name.startsWith('.') && statSync(path).size > 0) return path;
    const below = entry.isDirectory() ? someFileIfAny(path) : undefined;
    if (below !== undefined) return below;
  }
  return undefined;
}

function bytesIn(repository: string): number {
  return [...listRepository(repository).objects.values()].reduce((sum, { size }) => sum + size, 0);
}

function since(beganMs: number): string {
  return ((performance.now() - beganMs) / 1_000).toFixed(1);
}

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { count: { type: 'string', default: '1000000' }, keep: { type: 'boolean', default: false } },
});
const [given] = positionals;
const count = Number(values.count);
if (given === undefined || !Number.isSafeInteger(count) || count < 1) {
  process.stderr.write('usage: lost-machine-bench.ts DIR [--count N] [--keep]\n');
  process.exitCode = 2;
} else {
  const directory = resolve(given);
  mkdirSync(directory, { recursive: true });
  const lost = await backUp(directory, count);
  const writers = readdirSync(join(lost.repository, 'heads')).length;
  const place = (name: string): Place => machine(directory, name, lost.recoveryCode, lost.repository);
  const one = await restoreOne(lost, place('new-1'), directory);
  print(`the file that was asked for: ${one.toFixed(1)} s (at most ${MOST_SECONDS})`);
  const all = await restoreAll(place('new-2'), directory);
  print(`the first file of everything: ${all.toFixed(1)} s (at most ${MOST_SECONDS})`);
  const job = await carryOn(lost, place('new-3'));
  const again = bytesIn(lost.repository) - lost.storedBytes;
  const added = readdirSync(join(lost.repository, 'heads')).length - writers;
  print(
    `the agent carried on: ${String(job['status'])} ${JSON.stringify(job['error'])}, ${again} bytes stored beside ${lost.storedBytes}, ${added} new identity`,
  );
  const fine = job['status'] === 'completed' && again <= lost.storedBytes * MOST_AGAIN;
  process.exitCode = fine && one <= MOST_SECONDS && all <= MOST_SECONDS ? 0 : 1;
  if (!values.keep) removeTree(directory);
}
