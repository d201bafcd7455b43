import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import Database from 'better-sqlite3';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import {
  beginIdempotent,
  type IdempotentRequest,
  type RunningRequest,
} from '../../../src/api/framework/idempotency.ts';
import { openStateDatabase, type StateDatabase } from '../../../src/db/state-database.ts';
import { manualClock } from '../../support/manual-clock.ts';

let directory: string;
let state: StateDatabase;
const clock = manualClock();

beforeEach(() => {
  directory = mkdtempSync(path.join(tmpdir(), 'holdfast-once-'));
  state = openStateDatabase(path.join(directory, 'state.db'), clock);
});

afterEach(() => {
  state.close();
  rmSync(directory, { recursive: true });
});

const request: IdempotentRequest = {
  key: 'k',
  caller: 'hfk_a',
  path: '/v1/things',
  query: {},
  body: { a: 1, b: [{ c: 2, d: 3 }] },
};

function begin(change: Partial<IdempotentRequest> = {}) {
  return beginIdempotent(state.idempotency, { ...request, ...change }, clock);
}

function run(): RunningRequest {
  const beginning = begin();
  return beginning.kind === 'run' ? beginning.running : expect.fail('it ran before');
}

describe('a response that carries a secret', () => {
  test('is kept without it: a replay says only that it was shown', () => {
    const body = JSON.stringify({
      success: true,
      data: { id: 'x', secret: 'hfs_canary' },
      meta: { request_id: 'r' },
    });
    run().finish({ status: 201, headers: {}, body }, '/v1');
    const replay = begin();
    expect(replay.kind === 'replay' && JSON.parse(replay.response.body)).toEqual({
      success: true,
      data: { id: 'x', secret: null, secret_shown: true },
      meta: { request_id: 'r' },
    });
    state.close();
    expect(readFileSync(path.join(directory, 'state.db')).includes('hfs_canary')).toBe(false);
    state = openStateDatabase(path.join(directory, 'state.db'), clock);
  });
});

describe('a request', () => {
  const body = JSON.stringify({ success: true, data: {}, meta: {} });

  test('is the same however its fields are ordered, and another when any value differs', () => {
    run().finish({ status: 200, headers: {}, body }, '/v1');
    expect(begin({ body: { b: [{ d: 3, c: 2 }], a: 1 } }).kind).toBe('replay');
    expect(begin({ path: '/api/v1/things' }).kind).toBe('replay');
    for (const change of [
      { body: { a: '1', b: [{ c: 2, d: 3 }] } },
      { body: { a: 1, b: [{ c: 2 }, { d: 3 }] } },
      { body: { a: 1 } },
      { body: undefined },
      { query: { x: '1' } },
    ]) {
      expect(() => begin(change), JSON.stringify(change)).toThrow(/different request/);
    }
    expect(begin({ path: '/v1/others' }).kind).toBe('run');
    expect(begin({ caller: 'hfk_b' }).kind).toBe('run');
  });

  test('gets its Location back under the prefix that it asks under now', () => {
    run().finish({ status: 202, headers: { location: '/api/v1/things/1', etag: '"e"' }, body }, '/api/v1');
    const locations = (['/v1/things', '/api/v1/things'] as const).map((asked) => {
      const replay = begin({ path: asked });
      return replay.kind === 'replay' ? replay.response.headers : {};
    });
    expect(locations).toEqual([
      { location: '/v1/things/1', etag: '"e"' },
      { location: '/api/v1/things/1', etag: '"e"' },
    ]);
  });

  test('that was abandoned may be made again; its late end changes nothing', () => {
    const first = run();
    expect(() => begin()).toThrow(/still being answered/);
    first.abandon();
    const second = run();
    first.finish({ status: 200, headers: {}, body: '{"data":"late"}' }, '/v1');
    expect(() => begin()).toThrow(/still being answered/);
    second.finish({ status: 200, headers: {}, body }, '/v1');
    expect(begin().kind).toBe('replay');
  });
});

describe('a request whose effect is stored before it is answered', () => {
  const noted = { status: 202, headers: { location: '/v1/things/7' }, body: '{"data":{"id":"7"},"meta":{}}' };
  const reopen = (): void => {
    state.close();
    state = openStateDatabase(path.join(directory, 'state.db'), clock);
  };

  test('is answered with what was noted once its process has ended', () => {
    const running = run();
    state.transaction(() => running.note(noted, '/v1'));
    expect(() => begin()).toThrow(/still being answered/);
    reopen();
    expect(begin({ path: '/api/v1/things' })).toEqual({
      kind: 'replay',
      response: { ...noted, headers: { location: '/api/v1/things/7' } },
    });
  });

  test('has its answer in the place of what was noted', () => {
    const running = run();
    running.note(noted, '/v1');
    const final = { status: 200, headers: {}, body: '{"data":{"id":"7","done":true},"meta":{}}' };
    running.finish(final, '/v1');
    expect(begin()).toEqual({ kind: 'replay', response: final });
  });

  test.each(['fails for the moment', 'is given up'])('is not carried out again when it %s', (how) => {
    const running = run();
    running.note(noted, '/v1');
    if (how === 'is given up') running.abandon();
    else running.finish({ status: 503, headers: {}, body: '{"error":{"code":"SHUTTING_DOWN"}}' }, '/v1');
    expect(begin()).toEqual({ kind: 'replay', response: noted });
  });

  test('may be repeated when storing the effect has failed, and the note with it', () => {
    const running = run();
    const fail = (): void =>
      state.transaction(() => {
        running.note(noted, '/v1');
        throw new Error('no space');
      });
    expect(fail).toThrow('no space');
    running.abandon();
    expect(begin().kind).toBe('run');
  });

  test('is answered with what was noted when its own answer cannot be kept', () => {
    // It is open elsewhere as well, and so not locked for one alone.
    state.close();
    const file = path.join(directory, 'state.db');
    const other = new Database(file);
    other.pragma('journal_mode');
    state = openStateDatabase(file, clock);
    const running = run();
    running.note(noted, '/v1');
    other.exec("CREATE TRIGGER full BEFORE UPDATE ON idempotency BEGIN SELECT RAISE(ABORT, 'no space'); END");
    expect(() => running.finish({ status: 200, headers: {}, body: '{}' }, '/v1')).toThrow('no space');
    expect(begin()).toEqual({ kind: 'replay', response: noted });
    other.close();
  });
});
