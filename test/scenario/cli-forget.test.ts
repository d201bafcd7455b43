/** Which snapshots "forget" means. */
import { expect, test } from 'vitest';
import { archive } from '../../src/archiver/archive.ts';
import { NO_EXCLUSIONS } from '../../src/exclude/excluder.ts';
import { SILENT } from '../../src/archiver/report/observer.ts';
import { bytesOfText } from '../../src/base/byte-path.ts';
import { systemClock } from '../../src/base/clock.ts';
import { jobTags } from '../../src/base/job-tag.ts';
import { openLocalDestination } from '../../src/destination/local/local.ts';
import { openRepository } from '../../src/repository/opening.ts';
import { jsonLines, openPlace, PASSPHRASE, type Place } from '../support/cli.ts';
import { never, requestFor } from '../support/engine.ts';

async function backUpAs(place: Place, host: string): Promise<string> {
  const summary = jsonLines(await place.expectRun(['backup', '--json', '--host', host, place.source])).at(-1);
  return String(summary?.['snapshot_id']);
}

test('the newest of a host is forgotten, and not the newest of another one that came later', async () => {
  await using place = await openPlace();
  await place.expectRun(['init']);
  await place.write({ 'a.txt': 'content' });
  const ours = await backUpAs(place, 'ours');
  const theirs = await backUpAs(place, 'theirs');
  const [dry] = jsonLines(
    await place.expectRun(['forget', 'latest', '--host', 'ours', '--dry-run', '--json']),
  );
  expect(dry).toMatchObject({ remove: [ours] });
  await place.expectRun(['forget', 'latest', '--host', 'ours']);
  expect(jsonLines(await place.expectRun(['snapshots', '--json'])).map(({ id }) => id)).toEqual([theirs]);
  const { stderr } = await place.expectRun(['forget', 'latest', '--host', 'ours'], 1);
  expect(stderr).toContain('There is no snapshot "latest"');
});

test('rules give a backup by a request with exclude rules of its own the place of no whole one', async () => {
  await using place = await openPlace();
  await place.expectRun(['init']);
  await place.write({ 'a.txt': 'content', 'more/b.txt': 'content' });
  const whole = await backUpAs(place, 'host');
  const narrowed = await backUpNarrowed(place, 'host');
  await place.expectRun(['forget', '--keep-last', '1', '--host', 'host']);
  const left = jsonLines(await place.expectRun(['snapshots', '--json'])).map(({ id }) => id);
  expect(new Set(left)).toEqual(new Set([whole, narrowed]));
  // The tag that names the job would take the place of the reason.
  const { stdout } = await place.expectRun(['forget', '--keep-last', '1', '--dry-run']);
  expect(stdout).toContain('Why');
  expect(stdout).not.toContain('job:bkp');
});

test('what prune will free is said in one line, and where it frees nothing it says no more than that', async () => {
  await using place = await openPlace();
  await place.expectRun(['init']);
  expect((await place.expectRun(['prune'])).stdout).toBe('There is nothing to free.\n');
  await place.write({ a: 'x'.repeat(100_000) });
  await place.expectRun(['backup', place.source]);
  await place.write({ a: 'changed' });
  await place.expectRun(['backup', place.source]);
  await place.expectRun(['forget', '--keep-last', '1']);
  const { stdout } = await place.expectRun(['prune']);
  expect(stdout).toMatch(
    /^\S+ \w+ \(\d+ packs?\) will be freed by the first prune in 3d or later, so that a running backup loses nothing\. To free it now/,
  );
  expect((await place.expectRun(['prune', '--grace', '0', '--no-other-writers'])).stdout).toMatch(/^Freed /);
});

/** As a job of the agent does whose request has exclude rules. */
async function backUpNarrowed(place: Place, host: string): Promise<string> {
  const destination = await openLocalDestination(place.repository);
  const secret = { kind: 'passphrase', text: PASSPHRASE } as const;
  const options = { clock: systemClock, stateDirectory: undefined, allowWeakCost: true };
  const repository = await openRepository(destination, secret, options, never);
  try {
    const request = requestFor(repository, [place.source], {
      host,
      tags: jobTags('bkp_1', ['more']),
      exclude: { ...NO_EXCLUSIONS, patterns: [{ pattern: bytesOfText('more'), from: 'the test' }] },
    });
    return (await archive(request, SILENT, never)).snapshot.id;
  } finally {
    await repository.close();
  }
}

test.each([
  [['--host', 'mistyped'], 'none is of the host mistyped'],
  [['--tag', 'mistyped'], 'none is with the tags mistyped'],
])('a filter that matches nothing is an error, and nothing is pruned: %s', async (filter, said) => {
  await using place = await openPlace();
  await place.expectRun(['init']);
  await place.write({ a: 'x' });
  await place.expectRun(['backup', place.source]);
  const { code, stdout, stderr } = await place.run(['forget', ...filter, '--keep-last', '1', '--prune']);
  expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
  expect(stderr).toContain(`Nothing was removed: the repository has 1 snapshot, and ${said}`);
});

test('rules have nothing to complain of where there is no snapshot yet', async () => {
  await using place = await openPlace();
  await place.expectRun(['init']);
  await place.expectRun(['forget', '--host', 'new', '--keep-last', '1']);
});
