/** What a prune would forget, by what the catalog knows. */
import { expect, test } from 'vitest';
import { bytesOfText } from '../../../src/base/byte-path.ts';
import { NARROWED_TAG } from '../../../src/base/job-tag.ts';
import type { RetentionRules } from '../../../src/repository/retention/forgetting.ts';
import { forgetSnapshots, listSnapshots } from '../../../src/repository/snapshots.ts';
import { directory, file } from '../../support/hand-made-snapshot.ts';
import { openFixture, signal, type Fixture } from './catalog-fixture.ts';

const HOUR_MS = 3_600_000;
const RULES: RetentionRules = {
  keep_last: 2,
  keep_hourly: null,
  keep_daily: null,
  keep_weekly: null,
  keep_monthly: null,
  keep_yearly: null,
  keep_within: null,
  time_zone: null,
  frozen: [],
};

async function filled(fixture: Fixture): Promise<void> {
  for (let count = 0; count < 6; count += 1)
    await fixture.commit(directory({ a: file(String(count)) }), {
      paths: [bytesOfText(count % 2 === 0 ? '/one, /two' : '/öther')],
      pinned: count === 0,
    });
  await fixture.sync();
}

test('tells of each snapshot whether it stays, and why, the newest first', async () => {
  using fixture = await openFixture();
  await filled(fixture);
  const preview = fixture.reader.forgetting({ rules: RULES, nowMs: 100 * HOUR_MS, limit: 100 });
  expect([preview.kept, preview.removed]).toEqual([5, 1]);
  expect(
    preview.items.map(({ created_at: at, source, keep, reasons }) => [at / HOUR_MS, source, keep, reasons]),
  ).toEqual([
    [6, '/öther', true, ['last']],
    [5, '/one, /two', true, ['last']],
    [4, '/öther', true, ['last']],
    [3, '/one, /two', true, ['last']],
    [2, '/öther', false, []],
    [1, '/one, /two', true, ['pinned']],
  ]);
  const { live } = await listSnapshots(fixture.repository, signal);
  expect(preview.items.map(({ id }) => id)).toEqual(live.map(({ id }) => id).toReversed());
});

test('gives a snapshot with exclude rules of its own the place of no whole one', async () => {
  using fixture = await openFixture();
  for (const tags of [[], [], [NARROWED_TAG]]) await fixture.commit(directory({ a: file('1') }), { tags });
  await fixture.sync();
  const request = { rules: { ...RULES, keep_last: 1 }, nowMs: 100 * HOUR_MS, limit: 100 };
  expect(fixture.reader.forgetting(request).items.map(({ keep }) => keep)).toEqual([true, true, false]);
});

test('goes by what was made last, whatever the clock said then, as a prune does', async () => {
  using fixture = await openFixture();
  await fixture.commit(directory({ a: file('1') }), { startedMs: 10 * HOUR_MS });
  const last = await fixture.commit(directory({ a: file('2') }), { startedMs: 5 * HOUR_MS });
  await fixture.sync();
  const request = { rules: { ...RULES, keep_last: 1 }, nowMs: 100 * HOUR_MS, limit: 100 };
  const { items } = fixture.reader.forgetting(request);
  expect(items.map(({ created_at: at, keep }) => [at / HOUR_MS, keep])).toEqual([
    [10, false],
    [5, true],
  ]);
  const chosen = fixture.reader.chosen({ snapshot: 'latest' });
  expect(chosen.map(({ id }) => id)).toEqual([last.id]);
  // The list of those that are there changes, and with it what was made last.
  await forgetSnapshots(fixture.repository, [last.id], 'test', signal);
  await fixture.sync();
  expect(fixture.reader.chosen({ snapshot: 'latest' }).map(({ created_at: at }) => at)).toEqual([
    10 * HOUR_MS,
  ]);
});

test('counts all of them, also those that it does not tell one by one', async () => {
  using fixture = await openFixture();
  await filled(fixture);
  const preview = fixture.reader.forgetting({ rules: RULES, nowMs: 100 * HOUR_MS, limit: 2 });
  expect([preview.kept, preview.removed, preview.items.length]).toEqual([5, 1, 2]);
});

test('lets an alarm keep what is older than it, of its source and what is above and below', async () => {
  using fixture = await openFixture();
  await filled(fixture);
  const frozenBy = (source: string, before: number): readonly string[] => {
    const rules = { ...RULES, frozen: [{ source, before }] };
    const { items } = previewOf(rules);
    return items
      .filter(({ reasons }) => reasons.includes('alarm'))
      .map(({ created_at: at }) => String(at / HOUR_MS));
  };
  const previewOf = (rules: RetentionRules) =>
    fixture.reader.forgetting({ rules, nowMs: 100 * HOUR_MS, limit: 100 });
  expect(frozenBy('/öther', 4 * HOUR_MS)).toEqual(['2']);
  expect(frozenBy('/öther/below', 5 * HOUR_MS)).toEqual(['4', '2']);
  expect(frozenBy('/', 3 * HOUR_MS)).toEqual(['2', '1']);
  expect(frozenBy('/öth', 100 * HOUR_MS)).toEqual([]);
  expect(previewOf({ ...RULES, frozen: [{ source: '/öther', before: 4 * HOUR_MS }] })).toMatchObject({
    kept: 6,
    removed: 0,
  });
});

test('counts days in the time zone of the settings', async () => {
  using fixture = await openFixture();
  // Three in the afternoon of the first of March in Los Angeles, and of the second; then its evening.
  const at = [1, 2, 2.125].map((day) => Date.UTC(2026, 2, 1, 23) + (day - 1) * 24 * HOUR_MS);
  for (const startedMs of at)
    await fixture.commit(directory({ a: file(String(startedMs)) }), {
      paths: [bytesOfText('/one')],
      startedMs,
    });
  await fixture.sync();
  const kept = (timeZone: string): readonly boolean[] => {
    const rules = { ...RULES, keep_last: null, keep_daily: 2, time_zone: timeZone };
    const { items } = fixture.reader.forgetting({ rules, nowMs: Date.UTC(2026, 2, 4), limit: 100 });
    return items.map(({ keep }) => keep);
  };
  expect(kept('America/Los_Angeles')).toEqual([true, false, true]);
  expect(kept('UTC')).toEqual([true, true, false]);
});

test('without any rule keeps everything for no reason', async () => {
  using fixture = await openFixture();
  await filled(fixture);
  const rules = { ...RULES, keep_last: null };
  const { kept, removed, items } = fixture.reader.forgetting({ rules, nowMs: 100 * HOUR_MS, limit: 100 });
  expect([kept, removed]).toEqual([6, 0]);
  expect(items.map(({ keep, reasons }) => [keep, ...reasons])).toEqual(
    Array.from({ length: 6 }, () => [true]),
  );
});
