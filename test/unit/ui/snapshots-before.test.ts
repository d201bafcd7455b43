/** The snapshots that the page offers after a loss: none from after it, however many were made since. */
import { afterEach, expect, it, vi } from 'vitest';
import { snapshotsBefore } from '../../../src/ui/pages/alarms/alarm-snapshots.tsx';

const { signal } = new AbortController();
const MINUTE = 60_000;
const LOSS = Date.parse('2026-11-01T12:00:00Z');

afterEach(() => vi.unstubAllGlobals());

/** Snapshots of one a minute, the newest first, in pages of 100. */
function answerWith(count: number): void {
  const snapshots = Array.from({ length: count }, (_, back) => ({
    id: `snapshot-${count - back}`,
    created_at: new Date(LOSS - back * MINUTE).toISOString(),
  }));
  vi.stubGlobal('fetch', async (input: string) => {
    const at = Number(new URL(input, 'http://localhost').searchParams.get('cursor') ?? 0);
    const next = at + 100 < count ? String(at + 100) : null;
    const data = { items: snapshots.slice(at, at + 100), next_cursor: next };
    return await Promise.resolve(Response.json({ success: true, data, meta: {} }));
  });
}

it('are found behind more than a page of snapshots that were made between the loss and its alarm', async () => {
  answerWith(350);
  const at = new Date(LOSS).toISOString();
  const found = await snapshotsBefore({ source: '/home', at, snapshot_before: 'snapshot-120' }, signal);
  expect(found.map(({ id }) => id)).toEqual([120, 119, 118, 117, 116, 115].map((n) => `snapshot-${n}`));
});

it('are the newest where nobody knows which came last before it', async () => {
  answerWith(350);
  const at = new Date(LOSS).toISOString();
  const found = await snapshotsBefore({ source: '/home', at, snapshot_before: null }, signal);
  expect(found.map(({ id }) => id)).toEqual([350, 349, 348, 347, 346, 345].map((n) => `snapshot-${n}`));
});
