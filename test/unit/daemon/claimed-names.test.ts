import { beforeEach, describe, expect, test } from 'vitest';
import { FULL_KEYS, type StoredBy } from '../../../src/base/stored-by.ts';
import { hostClaims } from '../../../src/catalog/ingest/sync.ts';
import {
  ClaimedNames,
  foldedName,
  isSameName,
  type PlacedClaim,
} from '../../../src/daemon/alarms/claimed-names.ts';
import { runSnapshot, keyNumber } from '../../support/run-snapshots.ts';
import { systemClock } from '../../../src/base/clock.ts';

let names: ClaimedNames;

beforeEach(() => {
  const kept = new Map<string, string>();
  const store = {
    get: (key: string) => kept.get(key),
    set: (key: string, value: string | undefined) =>
      void (value === undefined ? kept.delete(key) : kept.set(key, value)),
    all: () => kept,
  };
  names = new ClaimedNames(store, systemClock);
});

function claim(storedBy: StoredBy, host: string, firstMs: number, sources = ['/srv']): PlacedClaim {
  return {
    storedBy,
    host,
    firstMs,
    newest: { id: 'ab'.repeat(32), atMs: firstMs },
    sources,
    destination: 'nas',
  };
}

function judged(...claims: readonly PlacedClaim[]): readonly string[] {
  return names.judge(claims, 'here').map(({ text }) => text);
}

describe('a name under which a write-only key stores', () => {
  test('is no alarm where nobody else stores under it', () => {
    expect(judged(claim(keyNumber(3), 'web1', 5), claim(FULL_KEYS, 'db1', 1))).toEqual([]);
  });

  test('is one where full keys do, whoever was first, and where this machine bears it', () => {
    const [first] = judged(claim(keyNumber(3), 'db1', 1), claim(FULL_KEYS, 'db1', 5));
    expect(first).toContain(
      'Write-only key 3 (key 3) stored a backup in the name of db1, for which full keys store too',
    );
    expect(judged(claim(keyNumber(3), 'here', 1))).toHaveLength(1);
  });

  test('is one of the key that came later, also when what the other stored first is gone', () => {
    expect(judged(claim(keyNumber(3), 'web1', 5))).toEqual([]);
    const [only, ...more] = judged(claim(keyNumber(3), 'web1', 90), claim(keyNumber(4), 'web1', 50));
    expect(only).toContain('Write-only key 4 (key 4)');
    expect(more).toEqual([]);
  });

  test('is told once, and no more after it was acknowledged; another name of that key is', () => {
    const both = [claim(keyNumber(3), 'db1', 7), claim(FULL_KEYS, 'db1', 1)];
    expect(judged(...both)).toHaveLength(1);
    expect(judged(...both)).toEqual([]);
    names.acknowledge();
    expect(names.open()).toEqual([]);
    expect(judged(claim(keyNumber(3), 'db1', 9), claim(FULL_KEYS, 'db1', 1))).toEqual([]);
    expect(judged(...both, claim(keyNumber(3), 'db2', 9), claim(FULL_KEYS, 'db2', 1))).toHaveLength(1);
  });

  test('is told behind any number of others that were invented', () => {
    const many = Array.from({ length: 5_000 }, (_, n) => claim(keyNumber(3), `x${n}`, n));
    expect(judged(...many)).toEqual([]);
    expect(judged(...many, claim(keyNumber(3), 'db1', 9_999), claim(FULL_KEYS, 'db1', 1))).toHaveLength(1);
  });

  test('is the same as one that people take for it', () => {
    const isSame = (name: string, other: string): boolean => isSameName(foldedName(name), foldedName(other));
    for (const name of [
      'DB1',
      'db1.example.com',
      'db1\u200b',
      ' db1',
      'ｄｂ１',
      'd\u0301b1',
      'db1.',
      'db1。local',
    ]) {
      expect(isSame(name, 'db1')).toBe(true);
      expect(isSame('db1', name)).toBe(true);
    }
    expect(isSame('DB1.Example.com.', 'db1.example.com')).toBe(true);
    expect(isSame('db2', 'db1')).toBe(false);
  });

  test.each([
    ['mail.example.com', 'mail.example.org'],
    ['10.0.0.5', '10.0.0.6'],
    ['10.0.0.5', '10'],
    ['fe80::1', 'fe80::2'],
  ])('is another one where a person tells them apart: %s and %s', (claimed, theirs) => {
    expect(judged(claim(keyNumber(3), claimed, 5), claim(FULL_KEYS, theirs, 1))).toEqual([]);
    expect(names.judge([claim(keyNumber(3), claimed, 5)], theirs)).toEqual([]);
    expect(judged(claim(keyNumber(3), claimed, 5), claim(FULL_KEYS, claimed, 1))).toHaveLength(1);
  });

  test('is one of each key that stores under it with a domain, where full keys do without', () => {
    const full = claim(FULL_KEYS, 'mail', 1);
    const all = [
      full,
      claim(keyNumber(3), 'mail.example.com', 5),
      claim(keyNumber(4), 'mail.example.org', 6),
    ];
    expect(judged(...all)).toHaveLength(2);
  });

  test('is judged among thousands of ways to write it in no more time than among others', () => {
    const many = (host: (n: number) => string): readonly PlacedClaim[] =>
      Array.from({ length: 5_000 }, (_, n) => claim(keyNumber(3 + (n % 2)), host(n), n));
    const timeOf = (claims: readonly PlacedClaim[]): number => {
      const from = performance.now();
      names.judge(claims, 'here');
      return performance.now() - from;
    };
    const apart = timeOf(many((n) => `x${n}`));
    expect(timeOf(many((n) => `mail${'\u200b'.repeat(n % 50)}.x${n % 300}`))).toBeLessThan(5 * apart + 300);
  });

  test('is found in the snapshots, with the time that nobody with the key chooses', () => {
    const run = { name: 'a', writer: 'a', seq: 1, startedMs: 8e15 };
    const snapshot = { ...runSnapshot({ ...run, sealedBy: 3 }), storedMs: 5 };
    expect(hostClaims([snapshot])).toMatchObject([{ host: 'lab', firstMs: 5, storedBy: { number: 3 } }]);
  });
});

test('a name that comes while ten alarms of its key are open is told after a person has seen those', () => {
  const claims = Array.from({ length: 11 }, (_, at) => `db${at}`).flatMap((host) => [
    claim(FULL_KEYS, host, 1),
    claim(keyNumber(3), host, 5),
  ]);
  expect(judged(...claims)).toHaveLength(10);
  expect(judged(...claims)).toEqual([]);
  names.acknowledge();
  expect(judged(...claims)).toHaveLength(1);
  names.acknowledge();
  expect(judged(...claims)).toEqual([]);
});
