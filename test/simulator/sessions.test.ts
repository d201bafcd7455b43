import { expect, test } from 'vitest';
import { leaseKey } from '../../src/repository/lease-objects.ts';
import { Sessions } from './sessions.ts';

const PURPOSE = 'session.0123456789abcdef';
const SECOND = 1_000;

/** A session whose leases are stored at these seconds, of true time and of the storage's clock alike. */
function sessionSeenAt(...seconds: readonly number[]): Sessions {
  const sessions = new Sessions();
  for (const [before, at] of seconds.entries())
    sessions.see(leaseKey(PURPOSE, before + 1), at * SECOND, seenAt(at));
  return sessions;
}

function seenAt(written: number, visible = written): Parameters<Sessions['see']>[2] {
  return { signMs: written * SECOND, visibleMs: visible * SECOND, shownMs: visible * SECOND };
}

/** Whether a pack of one second keeps its mark away at another. */
function protects(sessions: Sessions, packAt: number, nowAt: number, prunesSince = nowAt): boolean {
  return sessions.protecting(packAt * SECOND, prunesSince * SECOND, nowAt * SECOND) === PURPOSE;
}

test('a backup at work protects what is younger than its first lease', () => {
  const sessions = sessionSeenAt(100, 160, 220);
  expect(protects(sessions, 150, 230)).toBe(true);
  expect(protects(sessions, 99, 230)).toBe(false);
});

test('one that gives no sign of life any more protects nothing', () => {
  expect(protects(sessionSeenAt(100, 160), 150, 400)).toBe(false);
});

test('a lease that is looked at again, or comes back with the power, is no sign of life', () => {
  const sessions = sessionSeenAt(100, 160);
  sessions.see(leaseKey(PURPOSE, 2), 160 * SECOND, seenAt(1_000));
  sessions.see(leaseKey(PURPOSE, 1), 100 * SECOND, seenAt(1_000));
  expect(protects(sessions, 150, 1_001)).toBe(false);
});

test('one whose leases are gone protects nothing, and all it had again once it wakes up', () => {
  const sessions = sessionSeenAt(100);
  sessions.see(leaseKey(PURPOSE, 1), undefined, seenAt(900));
  expect(protects(sessions, 150, 901)).toBe(false);
  sessions.see(leaseKey(PURPOSE, 2), 1_000 * SECOND, seenAt(1_000));
  expect(protects(sessions, 150, 1_020, 1_010)).toBe(true);
  // A prune that began before could not know of it: what it has stored since is young for that one as well.
  expect(protects(sessions, 150, 1_020, 990)).toBe(false);
  expect(protects(sessions, 1_010, 1_020, 990)).toBe(true);
});

test('one that wakes up protects what it had from prunes that begin once its lease can be seen', () => {
  const sessions = sessionSeenAt(100);
  sessions.see(leaseKey(PURPOSE, 2), 1_000 * SECOND, seenAt(1_000, 1_005));
  expect(protects(sessions, 150, 1_010, 1_003)).toBe(false);
  expect(protects(sessions, 150, 1_010, 1_006)).toBe(true);
});

test('what others stored while its first lease could not be seen yet is not its own', () => {
  const sessions = new Sessions();
  sessions.see(leaseKey(PURPOSE, 1), 100 * SECOND, seenAt(100, 105));
  expect(protects(sessions, 102, 110, 101)).toBe(false);
  expect(protects(sessions, 106, 110, 101)).toBe(true);
  // One that began later has read of this session, and of no pack whose it is.
  expect(protects(sessions, 102, 110, 107)).toBe(true);
});

test('the lease of one that has ended protects nothing when its request arrives once more', () => {
  const sessions = sessionSeenAt(100);
  sessions.see(leaseKey(PURPOSE, 1), undefined, seenAt(120));
  sessions.see(leaseKey(PURPOSE, 1), 130 * SECOND, seenAt(130));
  expect(protects(sessions, 110, 140)).toBe(false);
});

test('one whose last lease went with the power, while the one before came back, protects nothing', () => {
  const sessions = sessionSeenAt(100);
  sessions.see(leaseKey(PURPOSE, 2), 160 * SECOND, seenAt(160));
  sessions.see(leaseKey(PURPOSE, 1), undefined, seenAt(160));
  expect(protects(sessions, 150, 170)).toBe(true);
  sessions.see(leaseKey(PURPOSE, 1), 100 * SECOND, seenAt(170));
  sessions.see(leaseKey(PURPOSE, 2), undefined, seenAt(170));
  expect(protects(sessions, 150, 171)).toBe(false);
});
