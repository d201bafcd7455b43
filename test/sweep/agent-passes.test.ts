/** One source, three destinations, one of them away half of the time, for twenty runs of the real agent. */
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { systemClock } from '../../src/base/clock.ts';
import { openLocalDestination } from '../../src/destination/local/local.ts';
import { openRepository } from '../../src/repository/opening.ts';
import { listSnapshots, type Snapshot } from '../../src/repository/snapshots.ts';
import { snapshotDifferences } from '../support/compare-snapshot.ts';
import { eventually } from '../support/daemon-site.ts';
import { NAMES, openPassSite, type Name, type PassSite } from '../support/pass-site.ts';
import { seededRandom } from '../support/seeded-random.ts';

const RUNS = 20;
const FILES = 60;
const SEED = 20_261_121;

const never = new AbortController().signal;

const nameOf = (file: number): string => `d${file % 7}/f${file}.bin`;

test('the others complete every run, the third catches up by itself, and what changed is read once a run', async () => {
  const random = seededRandom(SEED);
  const content = (): Buffer => random.bytes(2_000 + random.below(60_000));
  const source = new Map(Array.from({ length: FILES }, (_, file) => [nameOf(file), content()]));
  await using here = await openPassSite(Object.fromEntries(source));
  const { site } = here;
  // Away in half of the runs, in stretches of one to four.
  const awayIn = new Set([2, 5, 6, 9, 10, 11, 14, 15, 16, 17]);
  expect(awayIn.size).toBe(RUNS / 2);
  let [read, changedBytes, opens, changedFiles, caughtUp] = [0, 0, 0, 0, 0];
  let isAway = false;
  for (let run = 1; run <= RUNS; run += 1) {
    const changed = run === 1 ? [...source.keys()] : change(source, random.below(8) + 1);
    if (run > 1) site.write(Object.fromEntries(changed.map((name) => [name, source.get(name) ?? ''])));
    here.opened();
    const wasAway = isAway;
    isAway = awayIn.has(run);
    if (isAway && !wasAway) here.unplug('c');
    const jobs = run === 1 ? await here.begin() : await here.beginInTime();
    const there: readonly Name[] = isAway || wasAway ? ['a', 'b'] : NAMES;
    for (const name of there) expect((await site.ended(jobs[name].id)).status).toBe('completed');
    if (isAway || wasAway) await here.isAway(jobs.c.id);
    if (wasAway && !isAway) {
      // It comes back while nothing is asked for.
      here.plug('c');
      expect((await site.ended(jobs.c.id)).status).toBe('completed');
      caughtUp += 1;
    }
    const opened = here.opened();
    expect([...opened.keys()].sort()).toEqual(changed.map((name) => join(site.source, name)).sort());
    expect([...opened.values()].filter((times) => times !== 1)).toEqual([]);
    const readNow = NAMES.filter((name) => !isAway || name !== 'c').map((name) =>
      Number(here.facts(jobs[name].id)['bytes_read']),
    );
    const wanted = changed.reduce((sum, name) => sum + (source.get(name)?.length ?? 0), 0);
    expect(readNow.reduce((sum, bytes) => sum + bytes, 0)).toBe(wanted);
    read += wanted;
    changedBytes += wanted;
    opens += opened.size;
    changedFiles += changed.length;
  }
  const counts = await Promise.all(NAMES.map(async (name) => (await snapshotsIn(here, name)).length));
  expect(counts.slice(0, 2)).toEqual([RUNS, RUNS]);
  expect(counts[2]).toBe(RUNS - awayIn.size);
  expect(site.jobs('backup').filter(({ status }) => status !== 'completed')).toEqual([]);
  // The newest is the same everywhere, and what lies in the source.
  for (const name of NAMES) expect(await newestDiffers(here, name)).toEqual([]);
  process.stdout.write(
    `  ${RUNS} runs, c away in ${awayIn.size}: snapshots ${counts.join(', ')}; caught up ${caughtUp} times; ` +
      `${opens} opens for ${changedFiles} changed files, ${read} bytes read of ${changedBytes} changed\n`,
  );

  function change(files: Map<string, Buffer>, count: number): readonly string[] {
    const names = new Set(Array.from({ length: count }, () => nameOf(random.below(FILES))));
    for (const name of names) files.set(name, content());
    return [...names];
  }
});

test('the changes that were watched are enough for whichever destination is read for next', async () => {
  const files = Object.fromEntries(
    Array.from({ length: 50 }, (_, file) => [nameOf(file), `content ${file}`]),
  );
  await using here = await openPassSite(files, { watch: true });
  const { site } = here;
  const completed = async (id: string): Promise<void> =>
    expect((await site.ended(id)).status).toBe('completed');
  const begun = await here.begin();
  for (const name of NAMES) await completed(begun[name].id);
  await eventually(
    async () => (await site.agent.fullStatus()).sources.every(({ watching }) => watching),
    'the watcher',
  );
  // Changes count from the first time that they were handed over while the source was watched.
  for (const [round, from] of [undefined, 'a', 'a', 'b', 'b'].entries()) {
    const text = `changed in round ${round}`;
    if (from === 'b' && round === 3) here.unplug('a');
    site.write({ [nameOf(round)]: text });
    // Those of the test itself; the agent waits for quiet.
    here.opened();
    const jobs = await here.next();
    const reader: Name = from === 'b' ? 'b' : 'a';
    // All that can end: one that copied from `a` when it is unplugged would read the source, the next change with it.
    for (const name of from === 'b' ? (['b', 'c'] as const) : NAMES) await completed(jobs[name].id);
    expect(here.facts(jobs.c.id)).toMatchObject({ copied_from: reader, bytes_read: '0' });
    if (from === undefined) continue;
    expect(here.facts(jobs[reader].id)).toMatchObject({ from_changes: 'true', bytes_read: `${text.length}` });
    expect(here.opened()).toEqual(new Map([[join(site.source, nameOf(round)), 1]]));
  }
  for (const name of ['b', 'c'] as const) expect(await newestDiffers(here, name)).toEqual([]);
});

test('what was copied is found in the catalog under the job that copied it', async () => {
  // At the real cost of a passphrase: the catalog takes no other.
  const { PATH, HOME } = process.env;
  await using here = await openPassSite({ 'deep/one.txt': 'one' }, {}, { environment: { PATH, HOME } });
  const { site } = here;
  const jobs = await here.begin();
  for (const name of NAMES) expect((await site.ended(jobs[name].id)).status).toBe('completed');
  interface Listed {
    readonly data: { readonly items: readonly Readonly<Record<string, unknown>>[] };
  }
  const snapshots = await eventually(async () => {
    const { items } = (await site.get<Listed>('/v1/snapshots')).data;
    return items.length === NAMES.length && items;
  }, 'all snapshots');
  for (const name of NAMES) {
    const made = snapshots.find(({ destination }) => destination === name);
    expect(made).toMatchObject({ backup_id: jobs[name].id, tags: [], source: site.source });
    const files = await site.get<Listed>(`/v1/files?backup_id=${jobs[name].id}&q=one.txt`);
    expect(files.data.items).toMatchObject([{ name: 'one.txt', backup_id: jobs[name].id }]);
  }
});

async function inRepository<T>(
  { site }: PassSite,
  name: Name,
  work: (live: readonly Snapshot[], repository: Awaited<ReturnType<typeof openRepository>>) => Promise<T>,
): Promise<T> {
  const repository = await openRepository(
    await openLocalDestination(join(site.directory, name)),
    { kind: 'passphrase', text: 'correct horse battery staple' },
    { clock: systemClock, stateDirectory: undefined, allowWeakCost: true },
    never,
  );
  try {
    return await work((await listSnapshots(repository, never)).live, repository);
  } finally {
    await repository.close();
  }
}

async function snapshotsIn(here: PassSite, name: Name): Promise<readonly Snapshot[]> {
  return await inRepository(here, name, async (live) => await Promise.resolve(live));
}

async function newestDiffers(here: PassSite, name: Name): Promise<readonly string[]> {
  return await inRepository(here, name, async (live, repository) => {
    const newest = live.at(-1);
    if (newest === undefined) return ['there is none'];
    return await snapshotDifferences(repository, newest, here.site.source, never);
  });
}
