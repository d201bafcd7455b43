import { describe, expect, test } from 'vitest';
import { settledBefore } from '../../../src/archiver/before/ctime-trust.ts';

const MS = 1_000_000n;
const SECOND = 1_000n * MS;
/** The run began half a second after a whole one. */
const startedMs = 1_700_000_000_500;
const started = BigInt(startedMs) * MS;
const wholeBefore = started - 500n * MS;

describe('a ctime tells of every change since a run began', () => {
  test('when it is older than a tick of the clock', () => {
    const isSettled = settledBefore(startedMs);
    expect(isSettled(started - 20n * MS - 1n)).toBe(true);
    expect(isSettled(started - 20n * MS)).toBe(false);
    expect(isSettled(started)).toBe(false);
    expect(isSettled(started + SECOND + 1n)).toBe(false);
  });

  test('when it is a whole second, as on file systems that know no other times, and older than two of them', () => {
    const isSettled = settledBefore(startedMs);
    expect(isSettled(wholeBefore)).toBe(false);
    // FAT: every other second.
    expect(isSettled(wholeBefore - SECOND)).toBe(false);
    expect(isSettled(wholeBefore - 2n * SECOND)).toBe(true);
    expect(isSettled(wholeBefore - SECOND - 1n)).toBe(true);
  });

  test('with the tick on top when the run began with a second', () => {
    const isSettled = settledBefore(startedMs - 500);
    expect(isSettled(wholeBefore - 2n * SECOND)).toBe(false);
    expect(isSettled(wholeBefore - 3n * SECOND)).toBe(true);
  });

  test('when it lies before 1970', () => {
    expect(settledBefore(startedMs)(-1n * SECOND)).toBe(true);
  });
});
