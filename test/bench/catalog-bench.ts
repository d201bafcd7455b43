/**
 * Times of the catalog at a million files and a hundred snapshots:
 *
 *     node test/bench/catalog-bench.ts [DIRECTORY [FILES [SNAPSHOTS]]]
 *
 * The trees are made up in memory, so that what is measured is the catalog alone. Times are processor time; a search is
 * timed as the first with its needle, nothing remembered of it.
 */
import { once } from 'node:events';
import { mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Worker } from 'node:worker_threads';
import { openForWriting } from '../../src/catalog/tables/catalog-database.ts';
import { CatalogReader } from '../../src/catalog/answers/catalog-reader.ts';
import { registerSnapshots } from '../../src/catalog/ingest/register.ts';
import { sweep } from '../../src/catalog/ingest/sweep.ts';
import { versionsOf } from '../../src/catalog/answers/path-versions.ts';
import type { FileQuery } from '../../src/jobs/agent.ts';
import { seededRandom } from '../support/seeded-random.ts';
import { WORDS, snapshotOf, type BuildReport, type BuildSetup } from './catalog-material.ts';

const [place = mkdtempSync(join(tmpdir(), 'holdfast-catalog-bench-')), files = '1000000', snapshots = '100'] =
  process.argv.slice(2);
const ROUNDS = 25;
const setup: BuildSetup = {
  path: join(place, 'catalog.db'),
  files: Number(files),
  snapshots: Number(snapshots),
};
const { path } = setup;
const random = seededRandom(20_260_103);
const { signal } = new AbortController();

function pick<T>(from: readonly T[]): T {
  const one = from[random.below(from.length)];
  if (one === undefined) throw new Error('nothing to pick from');
  return one;
}

function say(text: string): void {
  process.stdout.write(`${text}\n`);
}

/** Of processor time, which other work on the machine does not count for. */
function milliseconds(work: () => unknown): number {
  const began = process.cpuUsage();
  work();
  const { user, system } = process.cpuUsage(began);
  return (user + system) / 1_000;
}

function versions(path: string): unknown {
  return versionsOf([catalog.states(path, undefined)], path);
}

function report(what: string, times: readonly number[]): void {
  const sorted = times.toSorted((a, b) => a - b);
  const at = (share: number): string => (sorted[Math.floor(share * (sorted.length - 1))] ?? 0).toFixed(1);
  say(`${what.padEnd(52)} p50 ${at(0.5).padStart(7)} ms   p95 ${at(0.95).padStart(7)} ms   max ${at(1)} ms`);
}

const build = new Worker(new URL('./catalog-build.ts', import.meta.url), { workerData: setup });
const [built]: BuildReport[] = await once(build, 'message');
if (built === undefined) throw new Error('no report');
await once(build, 'exit');
const [first = 0, ...others] = built.times;
say(
  `first snapshot, ${built.files} files in ${built.directories} directories: ${(first / 1_000).toFixed(1)} s`,
);
report('each other snapshot, a file in a hundred changed', others.slice(0, -1));
say(`the last snapshot, 20 files changed: ${(others.at(-1) ?? 0).toFixed(1)} ms`);

const database = openForWriting(path);
const count = (table: string): unknown => database.prepare(`SELECT count(*) FROM ${table}`).pluck().get();
say(
  `${(statSync(path).size / 1e6).toFixed(0)} MB, ${String(count('node'))} paths, ${String(count('version'))} versions`,
);

const catalog = new CatalogReader(path);

const live = catalog
  .snapshots({ limit: setup.snapshots })
  .map(({ id }) => id)
  .toReversed();
const last = live.at(-1) ?? '';
const middle = live[Math.floor(live.length / 2)] ?? '';
function query(parts: Partial<FileQuery>): FileQuery {
  return { snapshot: last, view: 'flat', sort: 'path', limit: 100, ...parts };
}
const directories = catalog.files(query({ type: 'directory', limit: 2_000 })).items.map((item) => item.path);
const paths = catalog
  .files(query({ q: pick(WORDS), type: 'file', limit: 2_000 }))
  .items.map((item) => item.path);
const everything: number[] = [];
const wall: number[] = [];
function time(what: string, ask: () => unknown, before: () => void = forget): void {
  const times = Array.from({ length: ROUNDS }, () => {
    before();
    const began = performance.now();
    const taken = milliseconds(ask);
    wall.push(performance.now() - began);
    return taken;
  });
  everything.push(...times);
  report(what, times);
}

/** Something is written, so that the results of searches count no more. */
function forget(): void {
  database.prepare(`INSERT OR REPLACE INTO meta VALUES ('bench', ?)`).run(String(wall.length));
  // What is not about the search.
  catalog.snapshots({ limit: 1 });
}

const NEEDLES: Readonly<Record<string, () => string>> = {
  'one letter (a)': () => 'a',
  'one letter, rare (J)': () => 'J',
  'one digit': () => String(random.below(10)),
  'two letters': () => pick(WORDS).slice(0, 2),
  'two letters nobody has (漢字)': () => '漢字',
  'an ending (.jpg)': () => '.jpg',
  'a glob (*.pdf)': () => '*.pdf',
  'a glob (IMG_12*)': () => `IMG_${random.below(100)}*`,
  'a common name (index.js)': () => 'index.js',
  'half a per cent': () => pick(WORDS),
  'two per thousand': () => `${pick(WORDS)}-`,
  'one name': () => `${pick(WORDS)}-${pick(WORDS)}${random.below(1_000)}`,
  nothing: () => 'no such name',
  'a glob of any three letters (???)': () => '???',
};
for (const [what, needle] of Object.entries(NEEDLES)) {
  for (const sort of ['path', 'name', 'size', 'modified'] as const) {
    time(`search ${what}, by ${sort}`, () => catalog.files(query({ q: needle(), sort })));
  }
}
report('search, all of these', everything);
report('search, all of these, by the clock', wall);
for (const [what, needle] of Object.entries(NEEDLES)) {
  time(`search all snapshots ${what}`, () =>
    catalog.search({ q: needle(), source: undefined, isGone: false, limit: 50, after: undefined }),
  );
}
time('search with a catalog opened for it', () => {
  const fresh = new CatalogReader(path);
  fresh.files(query({ q: pick(WORDS) }));
  fresh.close();
});
for (const sort of ['path', 'name', 'size', 'modified'] as const) {
  const deep = fiftiethPage(sort);
  time(`search one letter (a), 50th page, by ${sort}`, () =>
    catalog.files(query({ q: 'a', sort, after: deep })),
  );
  time(`search a common name in the first snapshot, by ${sort}`, () =>
    catalog.files(query({ snapshot: live[0] ?? '', q: 'index.js', sort })),
  );
}
time('links, by size', () => catalog.files(query({ type: 'symlink', sort: 'size' })));
time('directories with a word, by size', () =>
  catalog.files(query({ type: 'directory', q: pick(WORDS), sort: 'size' })),
);
time('search in another snapshot', () => catalog.files(query({ snapshot: middle, q: pick(WORDS) })));
time('search a word in a directory', () => catalog.files(query({ path: pick(directories), q: pick(WORDS) })));
for (const sort of ['path', 'name', 'size', 'modified'] as const) {
  time(`all files, by ${sort}`, () => catalog.files(query({ sort })));
  time(`files of a directory and below, by ${sort}`, () =>
    catalog.files(query({ sort, path: pick(directories) })),
  );
  time(`tree view of a directory, by ${sort}`, () =>
    catalog.files(query({ sort, view: 'tree', path: pick(directories) })),
  );
}
time('page in the middle of a list', () => {
  const from = pick(directories);
  return catalog.files(query({ path: from.slice(0, from.lastIndexOf('/')) }));
});
time('versions of a file', () => {
  return versions(pick(paths));
});
time('versions of a directory', () => versions(pick(directories)));
time('difference of neighbours', () => {
  const at = 1 + random.below(live.length - 1);
  const [a, b] = [live[at - 1], live[at]];
  return catalog.diff({ id: b ?? '', base: a, limit: 100, after: undefined });
});
time('difference of the first and the last', () =>
  catalog.diff({ id: last, base: live[0], limit: 100, after: undefined }),
);
time('snapshots', () => catalog.snapshots({ limit: 100 }));
catalog.close();

const kept = live.flatMap((_, i) =>
  i % 2 === 1 ? [snapshotOf(i, Buffer.alloc(24), { files: 0, bytes: 0 })] : [],
);
say(`forgetting half: ${milliseconds(() => registerSnapshots(database, kept)).toFixed(0)} ms`);
const swept = performance.now();
await sweep(database, signal);
say(
  `removing what only they had: ${((performance.now() - swept) / 1_000).toFixed(1)} s, ${String(count('version'))} versions left`,
);
database.close();
rmSync(place, { recursive: true });

function fiftiethPage(sort: FileQuery['sort']): string | undefined {
  let after: string | undefined;
  for (let page = 1; page < 50; page += 1) {
    after = catalog.files(query({ q: 'a', sort, after })).next ?? undefined;
  }
  return after;
}
