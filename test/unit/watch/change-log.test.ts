import { describe, expect, test } from 'vitest';
import { asByteString } from '../../../src/base/byte-path.ts';
import { ChangeLog, UNWALKED_MS, type TakenChanges } from '../../../src/watch/change-log.ts';
import { manualClock } from '../../support/manual-clock.ts';

const path = asByteString;

function begun(...readers: readonly string[]): { log: ChangeLog; clock: ReturnType<typeof manualClock> } {
  const clock = manualClock();
  const log = new ChangeLog(clock);
  for (const reader of readers) log.take(reader);
  return { log, clock };
}

function names({ directories, subtrees }: TakenChanges): readonly string[][] {
  return [[...directories], [...subtrees]];
}

describe('a reader of the change log', () => {
  test('knows nothing at first, then what was reported since', () => {
    const { log } = begun();
    expect(log.take('a').unknown).toBeDefined();
    log.directory(path('/s/one'));
    log.subtree(path('/s/two'));
    const taken = log.take('a');
    expect(taken.unknown).toBeUndefined();
    expect(names(taken)).toEqual([['/s/one'], ['/s/two']]);
    expect(names(log.take('a'))).toEqual([[], []]);
  });

  test('loses nothing to another one', () => {
    const { log } = begun('a', 'b');
    log.directory(path('/s/one'));
    expect(names(log.take('a'))).toEqual([['/s/one'], []]);
    log.directory(path('/s/two'));
    expect(names(log.take('b'))).toEqual([['/s/one', '/s/two'], []]);
    expect(names(log.take('a'))).toEqual([['/s/two'], []]);
  });

  test('is told since when its set is complete: since it took the one before', async () => {
    const { log, clock } = begun('a');
    const first = clock.now();
    await clock.advance(5_000);
    expect(log.take('a').since).toBe(first);
    expect(log.take('a').since).toBe(first + 5_000);
  });

  test('gets back what it gave back, with what came meanwhile, complete since then', async () => {
    const { log, clock } = begun('a');
    log.directory(path('/s/one'));
    await clock.advance(1_000);
    const { since } = log.take('a');
    log.directory(path('/s/two'));
    log.putBack('a', { kind: 'paths', paths: [path('/s/one')], since });
    const again = log.take('a');
    expect(names(again)[0]?.sort()).toEqual(['/s/one', '/s/two']);
    expect(again.since).toBe(since);
  });

  test('stays in the dark when what it gave back was unknown', () => {
    const { log } = begun('a');
    log.putBack('a', { kind: 'unknown', reason: 'it was dark' });
    expect(log.take('a').unknown).toBe('it was dark');
    expect(log.take('a').unknown).toBeUndefined();
  });

  test('is told the first reason for which everything may have changed, once', () => {
    const { log } = begun('a');
    log.directory(path('/s/one'));
    log.lose('first');
    log.lose('second');
    log.directory(path('/s/two'));
    const taken = log.take('a');
    expect(taken.unknown).toBe('first');
    expect(names(taken)).toEqual([[], []]);
    expect(log.take('a').unknown).toBeUndefined();
  });

  test('that has looked at everything since then need not do so again, another one has to', async () => {
    const { log, clock } = begun('a', 'b');
    await clock.advance(1_000);
    const due = clock.now();
    log.lose('first');
    log.take('a');
    log.lose('second', due);
    expect(['a', 'b', 'c'].map((reader) => log.isUnknownTo(reader))).toEqual([false, true, true]);
    expect(log.take('a').unknown).toBeUndefined();
    expect(log.take('b').unknown).toBe('first');
    log.lose('third', due);
    expect(['a', 'b', 'c'].map((reader) => log.isUnknownTo(reader))).toEqual([false, false, true]);
  });

  test('looks at everything when nobody has asked it to for a day and a half', async () => {
    const { log, clock } = begun('a');
    await clock.advance(UNWALKED_MS / 2);
    expect(log.take('a').unknown).toBeUndefined();
    await clock.advance(UNWALKED_MS / 2 + 1);
    expect(log.take('a').unknown).toBeDefined();
    await clock.advance(UNWALKED_MS / 2 + 1);
    expect(log.take('a').unknown).toBeUndefined();
  });

  test('that looks at everything for another reason need not be asked to', async () => {
    const { log, clock } = begun('a', 'b');
    for (let day = 0; day < 4; day += 1) {
      await clock.advance(UNWALKED_MS / 2 + 1);
      const due = clock.now();
      await clock.advance(1);
      expect(log.take('a', 'it is polled').unknown).toBe('it is polled');
      expect(log.take('b').unknown).toBeUndefined();
      log.looksAtEverything('b');
      log.lose('that is due', due);
      expect([log.isUnknownTo('a'), log.isUnknownTo('b')]).toEqual([false, false]);
    }
  });

  test('that nobody comes back as is let go, with what was kept for it', () => {
    const { log } = begun('a', 'b');
    log.directory(path('/s/one'));
    log.keepReaders((reader) => reader === 'a');
    expect(names(log.take('a'))).toEqual([['/s/one'], []]);
    expect(log.take('b').unknown).toBeDefined();
  });

  test('gets no list that is longer than a walk is worth', () => {
    const { log } = begun('a');
    for (let count = 0; count <= 50_000; count += 1) log.directory(path(`/s/${count}`));
    expect(log.take('a').unknown).toContain('50000');
  });
});
