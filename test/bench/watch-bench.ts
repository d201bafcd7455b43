/**
 * What watching costs, and what it saves: `node watch-bench.ts DIR [ROUNDS]`. It makes a tree of 86,000 files in 15,000
 * directories in DIR (once), backs it up, and then, with the repository open, changes 10 files, takes the changes from
 * the watcher and backs up again; each time a whole walk right after must find the same tree. `node watch-bench.ts --idle
 * DIR` only watches, and tells what that takes.
 */

import { randomBytes } from 'node:crypto';
import { appendFileSync, existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { archive, type ArchiveSummary } from '../../src/archiver/archive.ts';
import { NO_EXCLUSIONS } from '../../src/exclude/excluder.ts';
import { SILENT } from '../../src/archiver/report/observer.ts';
import { bytesOfText, type ByteString } from '../../src/base/byte-path.ts';
import { treePath } from '../../src/base/tree-path.ts';
import { systemClock } from '../../src/base/clock.ts';
import { DEFAULT_COMPRESSION } from '../../src/codec/compress.ts';
import { openLocalDestination } from '../../src/destination/local/local.ts';
import { loadIndex } from '../../src/repository/chunk-index.ts';
import { openSession } from '../../src/repository/take-lease.ts';
import { createRepository } from '../../src/repository/opening.ts';
import type { Repository } from '../../src/repository/repository.ts';
import { listSnapshots } from '../../src/repository/snapshots.ts';
import { TreeReader } from '../../src/repository/contents/tree-reader.ts';
import { watchSource, type SourceWatcher } from '../../src/watch/source-watcher.ts';
import { seededRandom } from '../support/seeded-random.ts';
import type { ArchiveRequest } from '../../src/archiver/archive-request.ts';

const DIRECTORIES = 15_000;
const FILES = 86_000;
const CHANGED = 10;
const IDLE_SECONDS = 30;

const never = new AbortController().signal;
const print = (text: string): void => void process.stdout.write(`${text}\n`);

function directoryOf(index: number): string {
  return join(`d${index % 25}`, `d${Math.floor(index / 25) % 24}`, `d${Math.floor(index / 600)}`);
}

function fileOf(index: number): string {
  return join(directoryOf(index % DIRECTORIES), `file-${index}.txt`);
}

function makeTree(source: string): void {
  if (existsSync(source)) return;
  const random = seededRandom(1);
  for (let index = 0; index < DIRECTORIES; index += 1)
    mkdirSync(join(source, directoryOf(index)), { recursive: true });
  for (let index = 0; index < FILES; index += 1)
    writeFileSync(join(source, fileOf(index)), random.bytes(200 + random.below(1_800)));
}

async function openWatcher(source: string): Promise<SourceWatcher> {
  const started = performance.now();
  const watcher = watchSource(
    { root: treePath(source), never: [], poll: false, clock: systemClock },
    { changed: () => {}, lost: print, problem: (problem) => print(`${problem.message} ${problem.hint}`) },
  );
  while (watcher.state === 'starting') await delay(5);
  print(
    `${watcher.state} ${watcher.directories} directories after ${Math.round(performance.now() - started)} ms`,
  );
  return watcher;
}

async function measureIdle(source: string): Promise<void> {
  const megabytes = (bytes: number): string => (bytes / 1e6).toFixed(1);
  const before = process.memoryUsage().rss;
  await using watcher = await openWatcher(source);
  await delay(5_000);
  const { user, system } = process.cpuUsage();
  await delay(IDLE_SECONDS * 1_000);
  const used = process.cpuUsage({ user, system });
  const rss = process.memoryUsage().rss;
  const share = (used.user + used.system) / (IDLE_SECONDS * 1e6);
  print(`idle with ${watcher.directories} directories: ${(share * 100).toFixed(3)} % of a processor,`);
  print(`${megabytes(rss)} MB resident, of which ${megabytes(rss - before)} MB since it began to watch`);
}

function median(times: readonly number[]): number {
  return times.toSorted((a, b) => a - b)[Math.floor(times.length / 2)] ?? Number.NaN;
}

function summary(name: string, times: readonly number[]): void {
  const rounded = [median(times), Math.min(...times), Math.max(...times)].map(Math.round);
  print(`${name}: median ${rounded[0]} ms, ${rounded[1]} to ${rounded[2]}`);
}

async function timed<T>(times: number[], work: () => Promise<T>): Promise<T> {
  const started = performance.now();
  const result = await work();
  times.push(performance.now() - started);
  return result;
}

async function measureRounds(directory: string, source: string, rounds: number): Promise<void> {
  const store = join(directory, 'store');
  rmSync(store, { recursive: true, force: true });
  mkdirSync(store);
  const repository = await createRepository(
    await openLocalDestination(store),
    {
      clock: systemClock,
      stateDirectory: undefined,
      secrets: [{ secret: { kind: 'machine', secret: randomBytes(32) }, label: 'bench' }],
      cost: { m: 64, t: 1, p: 1 },
    },
    never,
  );
  const request: ArchiveRequest = {
    repository,
    sources: [treePath(source)],
    host: 'host',
    user: 'user',
    tool: 'bench',
    tags: [],
    pinned: false,
    compression: DEFAULT_COMPRESSION,
    plain: false,
    isolated: false,
    exclude: NO_EXCLUSIONS,
    parent: 'auto',
    learn: true,
  };
  await using watcher = await openWatcher(source);
  watcher.take();
  const first = await archive(request, SILENT, never);
  print(`first backup: ${Math.round(first.durationMs)} ms`);
  let { known } = first;
  let parent = first.snapshot.id;
  const random = seededRandom(rounds);
  const phases: Record<string, number[]> = {};
  const [told, whole, processor]: [number[], number[], number[]] = [[], [], []];
  for (let round = 0; round < rounds; round += 1) {
    const changed = Array.from({ length: CHANGED }, () => join(source, fileOf(random.below(FILES))));
    for (const file of changed) appendFileSync(file, `${round}`);
    const compared = { ...request, parent: { snapshot: parent } };
    const observer = phaseTimes(phases);
    const directories = await toldOf(watcher, changed);
    const before = process.cpuUsage();
    const one = await timed(told, async () => {
      const done = await archive(
        { ...compared, known, changes: { directories, hiddenRules: false } },
        observer,
        never,
      );
      observer.phase('end');
      return done;
    });
    const { user, system } = process.cpuUsage(before);
    processor.push((user + system) / 1_000);
    const other = await timed(whole, async () => await archive(compared, SILENT, never));
    if ((await sourceId(repository, one, source)) !== (await sourceId(repository, other, source)))
      throw new Error('a whole walk found another tree');
    parent = one.snapshot.id;
    known = one.known;
  }
  summary(`change set of ${CHANGED} files to committed snapshot`, told);
  summary('  of processor time, with the readers', processor);
  for (const [phase, times] of Object.entries(phases)) summary(`  ${phase}`, times);
  await measureSteps(repository, rounds);
  summary('whole walk', whole);
  await repository.close();
}

/** The directories that the watcher tells of, once it has told of all these files. */
async function toldOf(watcher: SourceWatcher, files: readonly string[]): Promise<Set<ByteString>> {
  const wanted = new Set(files.map((file) => bytesOfText(dirname(file))));
  const told = new Set<ByteString>();
  while (![...wanted].every((directory) => told.has(directory))) {
    await delay(100);
    const changes = watcher.take();
    if (changes.kind !== 'paths') throw new Error(changes.reason);
    for (const path of changes.paths) told.add(path);
  }
  return told;
}

/** What a snapshot holds of the source, without the directories above, which others change. */
async function sourceId(
  repository: Repository,
  { snapshot }: ArchiveSummary,
  source: string,
): Promise<string> {
  const reader = new TreeReader(repository, await loadIndex(repository, { without: new Set() }, never), {
    plain: false,
  });
  let id = snapshot.record.root;
  for (const name of source.split('/').slice(1)) {
    const entries = await reader.directory(id, never);
    const entry = entries.find((one) => one.name === bytesOfText(name));
    if (entry?.type !== 'directory') throw new Error(`${name} is not in the snapshot`);
    id = entry.id;
  }
  return id.toString('hex');
}

/** Milliseconds that each phase took. */
function phaseTimes(times: Record<string, number[]>): typeof SILENT & { phase(phase: string): void } {
  let last: { readonly phase: string; readonly atMs: number } | undefined;
  return {
    ...SILENT,
    phase: (phase) => {
      const atMs = performance.now();
      if (last !== undefined) (times[last.phase] ??= []).push(atMs - last.atMs);
      last = { phase, atMs };
    },
  };
}

/** What a run does before it walks. */
async function measureSteps(repository: Repository, rounds: number): Promise<void> {
  const [session, list, index]: [number[], number[], number[]] = [[], [], []];
  for (let round = 0; round < rounds; round += 1) {
    await timed(session, async () => {
      await using _ = await openSession(repository, {}, never);
    });
    const { tombstones } = await timed(list, async () => await listSnapshots(repository, never));
    await timed(index, async () => await loadIndex(repository, { without: tombstones.packs }, never));
  }
  summary('  session opened and closed', session);
  summary('  snapshots listed', list);
  summary('  index loaded', index);
}

const idle = process.argv[2] === '--idle';
const directory = resolve(process.argv[idle ? 3 : 2] ?? '.');
const source = join(directory, 'source');
makeTree(source);
if (idle) await measureIdle(source);
else await measureRounds(directory, source, Number(process.argv[3] ?? 20));
