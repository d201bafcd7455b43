import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { StateDatabase } from '../../../src/db/state-database.ts';
import { PartnerError } from '../../../src/enrollment/ask-partner.ts';
import { Reporter, type ReporterParts } from '../../../src/enrollment/reporter.ts';
import type { PlanDocument } from '../../../src/enrollment/signed.ts';
import { settle } from '../../support/manual-clock.ts';
import { databaseSite, type DatabaseSite } from '../db/open-database.ts';

const SECOND = 1_000;
const MINUTE = 60 * SECOND;

let site: DatabaseSite;
let database: StateDatabase;
let reporter: Reporter;
let plan: PlanDocument;
/** Seconds since the beginning, and what was asked. */
let asked: { readonly at: number; readonly route: string; readonly body: string | undefined }[];
let answer: (route: string, body: string | undefined) => unknown;
let troubles: unknown[];
let gaveUp: number[];
let setBacks: number;

beforeEach(() => {
  site = databaseSite();
  database = site.reopen();
  database.partnerReports.begin('dev_1', 0);
  const now = site.clock.now() / SECOND;
  plan = {
    aud: 'dev_1',
    iat: now,
    exp: now + 86_400,
    grace_until: now + 15 * 86_400,
    revision: 'one',
    plan: { slug: 'pro', desktop_requests_per_hour: 1_000, storage_limit_bytes: 1 },
    status: 'active',
    trial_ends_at: null,
    expected_reports_seconds: 900,
  };
  [asked, troubles, gaveUp, setBacks] = [[], [], [], 0];
  answer = (_route, body) => receiptOf(body);
  reporter = new Reporter(parts());
});
afterEach(async () => {
  await reporter.close();
  site.remove();
});

/** What runs comes to rest first: a clock that nobody waits for would jump. */
async function advance(ms: number): Promise<void> {
  await settle();
  await site.clock.advance(ms);
}

function parts(): ReporterParts {
  const begin = site.clock.now();
  return {
    clock: site.clock,
    store: database.partnerReports,
    ask: async ({ route, body }) => {
      asked.push({ at: (site.clock.now() - begin) / SECOND, route, body });
      await Promise.resolve();
      return answer(route, body);
    },
    plan: () => plan,
    takePlan: async () => {
      plan = { ...plan, iat: plan.iat + 43_200, exp: plan.exp + 43_200, revision: 'two' };
      await Promise.resolve();
    },
    takeOrders: async () => await Promise.resolve(),
    prepare: async () => await Promise.resolve((contents) => JSON.stringify(contents)),
    answered: () => undefined,
    setBack: () => (setBacks += 1),
    trouble: (error) => troubles.push(error),
    gaveUp: (results) => gaveUp.push(results),
  };
}

function receiptOf(body: string | undefined, revision = plan.revision): unknown {
  const { seq } = JSON.parse(body ?? '{}') as { readonly seq: number };
  return { seq, duplicate: false, plan_revision: revision, orders: [] };
}

function note(jobId: string): void {
  database.partnerReports.note({ jobId, finishedAt: 1, body: '{}' });
  reporter.look();
}

const down = (): never => {
  throw new PartnerError('PARTNER_UNREACHABLE', 'It cannot be reached', { retry: 'later' });
};
const refused =
  (status: number, facts: object = {}) =>
  (): never => {
    throw new PartnerError('PARTNER_REFUSED', 'No', { status, ...facts });
  };

describe('reports', () => {
  test('come within half a minute of the start, then as often as the plan says', async () => {
    reporter.start();
    await advance(40 * MINUTE);
    expect(asked).toHaveLength(3);
    const [first = 0, second = 0, third = 0] = asked.map(({ at }) => at);
    expect(first).toBeLessThanOrEqual(30);
    for (const pause of [second - first, third - second]) expect(pause).toBeCloseTo(900);
  });

  test('come at once when there is something to tell, and once in 45 seconds at most', async () => {
    note('a');
    reporter.start();
    await settle();
    expect(asked).toHaveLength(1);
    for (const id of ['b', 'c', 'd']) {
      note(id);
      await advance(5 * SECOND);
    }
    await advance(29 * SECOND);
    expect(asked).toHaveLength(1);
    await advance(SECOND);
    expect(asked).toHaveLength(2);
    expect(asked[1]?.body).toContain('"results":["{}","{}","{}"]');
  });

  test('go on above the highest number that the service has, when the state of this machine was set back', async () => {
    answer = (_route, body) => ({ ...(receiptOf(body) as object), highest_seq: 500, number_taken: false });
    note('a');
    reporter.start();
    await settle();
    expect([setBacks, troubles, database.partnerReports.waiting()]).toEqual([1, [], 0]);
    answer = (_route, body) => receiptOf(body);
    note('b');
    await advance(MINUTE);
    expect(asked.map(({ body }) => (JSON.parse(body ?? '') as { seq: number }).seq)).toEqual([1, 501]);
  });

  test('are sent again under a new number where another one was counted under theirs', async () => {
    answer = (_route, body) => ({ ...(receiptOf(body) as object), highest_seq: 7, number_taken: true });
    note('a');
    reporter.start();
    await settle();
    expect([setBacks, troubles.length]).toEqual([1, 1]);
    answer = (_route, body) => ({ ...(receiptOf(body) as object), highest_seq: 8, number_taken: false });
    await advance(5 * SECOND);
    expect(asked.map(({ body }) => body)).toEqual([
      '{"seq":1,"results":["{}"],"ordersTaken":[]}',
      '{"seq":8,"results":["{}"],"ordersTaken":[]}',
    ]);
    expect(setBacks).toBe(1);
    expect(database.partnerReports.unanswered()).toBeUndefined();
  });

  test.each([0, -1, 1.5, 2 ** 53, '9', null])('pay no heed to %j as the highest number', async (highest) => {
    answer = (_route, body) => ({ ...(receiptOf(body) as object), highest_seq: highest });
    note('a');
    reporter.start();
    await settle();
    note('b');
    await advance(MINUTE);
    expect(asked.map(({ body }) => (JSON.parse(body ?? '') as { seq: number }).seq)).toEqual([1, 2]);
    expect(setBacks).toBe(0);
  });

  test('are sent again as they are, later and later, at least every quarter of an hour', async () => {
    answer = down;
    note('a');
    reporter.start();
    await advance(3 * 60 * MINUTE);
    expect(new Set(asked.map(({ body }) => body)).size).toBe(1);
    const waits = asked.slice(1).map(({ at }, index) => at - (asked[index]?.at ?? 0));
    expect(waits.every((wait) => wait >= 2.5 && wait <= 900)).toBe(true);
    expect(waits[0]).toBeLessThanOrEqual(5);
    expect(waits.at(-1)).toBeGreaterThanOrEqual(450);
    // Said once, not each time.
    expect(troubles).toHaveLength(1);
    const tries = asked.length;
    answer = (_route, body) => receiptOf(body);
    await advance(15 * MINUTE);
    expect(asked.length).toBeGreaterThan(tries);
    expect(database.partnerReports.waiting()).toBe(0);
    expect(database.partnerReports.unanswered()).toBeUndefined();
  });

  test('wait as long as the service asks, and a little longer', async () => {
    answer = refused(429, { retryAfterMs: 50 * MINUTE });
    note('a');
    reporter.start();
    await advance(49 * MINUTE);
    expect(asked).toHaveLength(1);
    await advance(6 * MINUTE);
    expect(asked).toHaveLength(2);
  });

  test('are given up when the service calls them wrong five times, and others go on', async () => {
    answer = refused(400, { reason: 'INVALID_REQUEST' });
    note('a');
    reporter.start();
    await advance(20 * MINUTE);
    expect(gaveUp[0]).toBe(1);
    expect(asked.filter(({ body }) => body?.includes('"seq":1,'))).toHaveLength(5);
    answer = (_route, body) => receiptOf(body);
    note('b');
    await advance(20 * MINUTE);
    expect(database.partnerReports.waiting()).toBe(0);
  });

  test('are never given up for what something in between answers, nor for a suspended partner', async () => {
    note('a');
    answer = refused(400);
    reporter.start();
    await advance(60 * MINUTE);
    answer = refused(403, { reason: 'PARTNER_SUSPENDED' });
    await advance(120 * MINUTE);
    expect(gaveUp).toEqual([]);
    expect(asked.length).toBeGreaterThan(10);
  });

  test('are not taken for answered by a receipt of something else', async () => {
    answer = () => ({ seq: 99, plan_revision: 'one', orders: [] });
    note('a');
    reporter.start();
    await advance(MINUTE);
    expect(asked.length).toBeGreaterThan(1);
    expect(database.partnerReports.unanswered()?.seq).toBe(1);
  });

  test('go on when the clock is set back', async () => {
    reporter.start();
    await advance(MINUTE);
    site.clock.jump(-30 * 86_400 * SECOND);
    await advance(MINUTE);
    expect(asked).toHaveLength(2);
  });
});

describe('the plan', () => {
  const plans = (): readonly number[] =>
    asked.filter(({ route }) => route.endsWith('/plan')).map(({ at }) => at);

  test('is fetched while a quarter of its time is left', async () => {
    reporter.start();
    await advance(17 * 60 * MINUTE);
    expect(plans()).toEqual([]);
    await advance(2 * 60 * MINUTE);
    expect(plans()).toHaveLength(1);
  });

  test('is fetched when the receipt names another, and not more than once in 45 seconds whatever it says', async () => {
    answer = (_route, body) => receiptOf(body, 'never the same');
    reporter.start();
    for (const id of ['a', 'b', 'c', 'd', 'e']) {
      note(id);
      await advance(MINUTE);
    }
    const times = plans();
    expect(times.length).toBeGreaterThan(1);
    for (const [index, at] of times.slice(1).entries())
      expect(at - (times[index] ?? 0)).toBeGreaterThanOrEqual(45);
  });

  test('that cannot be had does not hold up reports', async () => {
    plan = { ...plan, exp: plan.iat + 1 };
    answer = (route, body) => (route.endsWith('/plan') ? down() : receiptOf(body));
    note('a');
    reporter.start();
    await advance(MINUTE);
    expect(database.partnerReports.waiting()).toBe(0);
    expect(plans().length).toBeGreaterThan(1);
  });
});
