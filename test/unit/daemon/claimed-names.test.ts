import { beforeEach, describe, expect, test } from 'vitest';
import { FULL_KEYS, type StoredBy } from '../../../src/base/stored-by.ts';
import { hostClaims } from '../../../src/catalog/host-claims.ts';
import { ClaimedNames, foldedName, type PlacedClaim } from '../../../src/daemon/claimed-names.ts';
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
    for (const name of ['DB1', 'db1.example.com', 'db1\u200b', ' db1', 'ｄｂ１', 'd\u0301b1'])
      expect(foldedName(name)).toBe('db1');
    expect(foldedName('db2')).not.toBe('db1');
  });

  test('is found in the snapshots, with the time that nobody with the key chooses', () => {
    const run = { name: 'a', writer: 'a', seq: 1, startedMs: 8e15 };
    const snapshot = { ...runSnapshot({ ...run, sealedBy: 3 }), storedMs: 5 };
    expect(hostClaims([snapshot])).toMatchObject([{ host: 'lab', firstMs: 5, storedBy: { number: 3 } }]);
  });
});
