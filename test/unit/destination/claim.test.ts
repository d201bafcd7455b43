/** When a claim on a name is nobody's, by what is beside it. */
import { describe, expect, test } from 'vitest';
import { leastAgeMs, type FileBeside } from '../../../src/destination/claim.ts';
import { claimName, temporaryName } from '../../../src/destination/new-file.ts';

const MINUTE = 60_000;
const NOW = 1_000 * MINUTE;
const own = temporaryName();
const claim = claimName('one');
const beside = (...others: readonly FileBeside[]): number =>
  leastAgeMs([{ name: own, modifiedMs: NOW }, ...others], { own, claim });

describe('a claim is nobody’s', () => {
  test('when nobody else stores anything beside it, and it is older than the own temporary file', () => {
    expect(beside()).toBe(1);
    expect(beside({ name: 'two', modifiedMs: NOW }, { name: claim, modifiedMs: NOW })).toBe(1);
  });

  test('never while another has a temporary file there', () => {
    for (const modifiedMs of [NOW + MINUTE, NOW, NOW - 10 * MINUTE, undefined])
      expect(beside({ name: temporaryName(), modifiedMs })).toBe(Number.POSITIVE_INFINITY);
  });

  test('though a crash has left a temporary file', () => {
    expect(beside({ name: temporaryName(), modifiedMs: NOW - 10 * MINUTE - 1 })).toBe(1);
  });

  test('after ten minutes where the list is not whole', () => {
    expect(leastAgeMs([{ name: 'two', modifiedMs: NOW }], { own, claim })).toBe(10 * MINUTE);
    expect(leastAgeMs([{ name: own }], { own, claim })).toBe(10 * MINUTE);
  });
});
