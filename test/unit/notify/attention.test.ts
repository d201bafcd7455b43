import { describe, expect, it } from 'vitest';
import { createAttention } from '../../../src/notify/attention.ts';
import type { Notice, NoticeKind } from '../../../src/notify/notice.ts';
import { sampleNotice } from './sample-notice.ts';

const HOUR = 3_600_000;
const START = Date.parse('2026-11-21T00:00Z');

/** What gets through of notices that come an hour apart. */
function told(
  kinds: readonly NoticeKind[],
  facts: (hour: number) => Partial<Notice> = () => ({}),
): readonly number[] {
  const attention = createAttention();
  return kinds.flatMap((kind, hour) => {
    const notice = sampleNotice({ kind, at: START + hour * HOUR, ...facts(hour) });
    return attention.admits(notice) ? [hour] : [];
  });
}

describe('attention', () => {
  it('is asked for once when the same goes wrong every hour, and again after a day', () => {
    expect(told(Array.from({ length: 50 }, () => 'backup.failed'))).toEqual([0, 20, 40]);
  });

  it('is asked for when it is mended, and not while all is well', () => {
    expect(told(['backup.completed', 'backup.failed', 'backup.completed', 'backup.completed'])).toEqual([
      1, 2,
    ]);
    expect(told(['backup.failed', 'backup.completed', 'backup.failed'])).toEqual([0, 1, 2]);
    expect(told(['absence', 'backup.completed'])).toEqual([0, 1]);
  });

  it('is asked for at each change for the worse', () => {
    expect(told(['backup.warning', 'backup.warning', 'backup.failed', 'backup.failed'])).toEqual([0, 2]);
    expect(told(['backup.failed', 'backup.warning', 'backup.warning', 'backup.failed'])).toEqual([0, 1, 3]);
  });

  it('is asked for each source and destination by itself', () => {
    const kinds: readonly NoticeKind[] = ['backup.failed', 'backup.failed', 'backup.failed', 'backup.failed'];
    expect(told(kinds, (hour) => ({ source: `/${hour % 2}` }))).toEqual([0, 1]);
    expect(told(kinds, (hour) => ({ destination: `${hour % 2}` }))).toEqual([0, 1]);
  });

  it('is always asked for restores, tests and a state that cannot be written, never for starts', () => {
    expect(
      told(['restore.failed', 'restore.failed', 'test', 'test', 'backup.started', 'restore.completed']),
    ).toEqual([0, 1, 2, 3, 5]);
    expect(told(['state.failed', 'state.failed'])).toEqual([0, 1]);
  });

  it('is asked for each alarm that says something new', () => {
    expect(told(['alarm', 'alarm', 'alarm'], (hour) => ({ text: `alarm ${Math.min(hour, 1)}` }))).toEqual([
      0, 1,
    ]);
  });

  it('goes by what was told before a restart', () => {
    let kept: string | undefined;
    const book = { read: () => kept, write: (text: string | undefined) => void (kept = text) };
    const after = (kind: NoticeKind, hour: number): boolean =>
      createAttention(book).admits(sampleNotice({ kind, at: START + hour * HOUR }));
    expect(after('backup.failed', 0)).toBe(true);
    expect([after('backup.failed', 1), after('backup.failed', 2)]).toEqual([false, false]);
    expect(after('backup.completed', 3)).toBe(true);
    expect(kept).toBeUndefined();
    expect(after('backup.completed', 4)).toBe(false);
  });

  it('holds no more than a thousand subjects', () => {
    const attention = createAttention();
    const failed = (source: number): Notice => sampleNotice({ source: `/${source}`, at: START });
    for (let source = 0; source <= 1000; source += 1) expect(attention.admits(failed(source))).toBe(true);
    expect(attention.admits(failed(1000))).toBe(false);
    // Forgotten, so told again.
    expect(attention.admits(failed(0))).toBe(true);
  });
});
