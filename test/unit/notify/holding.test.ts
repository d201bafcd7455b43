/** What waits for the end of the quiet hours, and what does not. */
import { describe, expect, it, onTestFinished } from 'vitest';
import type { WaitingBook } from '../../../src/notify/delivery.ts';
import { createNotice, type Notice, type NoticeKind } from '../../../src/notify/notice.ts';
import { Notifier } from '../../../src/notify/notifier.ts';
import { DeliveryError, type Sender } from '../../../src/notify/sender.ts';
import { manualClock, settle } from '../../support/manual-clock.ts';
import { sampleNotice } from './sample-notice.ts';

function memoryBook(): WaitingBook & { readonly kept: Map<string, string> } {
  const kept = new Map<string, string>();
  const write = (name: string, text: string | undefined): void =>
    void (text === undefined ? kept.delete(name) : kept.set(name, text));
  return { kept, read: (name) => kept.get(name), write };
}

function site() {
  const clock = manualClock();
  const held = memoryBook();
  const got = { email: [] as Notice[], ntfy: [] as Notice[], webhook: [] as Notice[] };
  const gaveUp: string[] = [];
  let until: string | null = '07:00';
  let refuses = false;
  const sender = (name: keyof typeof got): Sender => ({
    name,
    everything: name === 'webhook',
    keeps: true,
    send: async (notice) => {
      await Promise.resolve();
      if (refuses) throw new DeliveryError('refused for good', { retry: 'never' });
      got[name].push(notice);
    },
    close: () => undefined,
  });
  const start = (...names: readonly (keyof typeof got)[]): Notifier => {
    const notifier = new Notifier(names.map(sender), {
      clock,
      host: 'workshop',
      held,
      quietUntil: () => until,
      log: ({ sender: name, text }) => void gaveUp.push(`${name}: ${text}`),
    });
    onTestFinished(async () => await notifier.close());
    return notifier;
  };
  return {
    clock,
    held,
    got,
    gaveUp,
    sender,
    start,
    setQuiet: (end: string | null) => void (until = end),
    setRefusing: (isSo: boolean) => void (refuses = isSo),
  };
}

const kinds = (notices: readonly Notice[]): readonly NoticeKind[] => notices.map(({ kind }) => kind);
const restored = (id: string): Notice =>
  sampleNotice({ id, kind: 'restore.completed', source: null, text: id });

describe('in quiet hours', () => {
  it('people get what is bad at once and the rest at the end, and programs get everything', async () => {
    const { got, start, setQuiet } = site();
    const notifier = start('email', 'ntfy', 'webhook');
    const all: readonly NoticeKind[] = [
      'backup.failed',
      'backup.completed',
      'backup.warning',
      'prune.failed',
      'restore.completed',
      'restore.failed',
      'check.failed',
      'drill.failed',
      'alarm',
      'absence',
      'state.failed',
    ];
    for (const kind of all) notifier.notify(sampleNotice({ id: kind, kind, job: null }));
    await settle();
    const bad = all.filter((kind) => /failed|alarm|absence/.test(kind) && kind !== 'prune.failed');
    expect(kinds(got.email)).toEqual(bad);
    expect(kinds(got.ntfy)).toEqual(bad);
    expect(kinds(got.webhook)).toEqual(all);
    // Each notice counts once, whoever gets it.
    expect(notifier.held()).toEqual({ count: 4, until: '07:00' });
    notifier.look();
    await settle();
    expect(got.email).toHaveLength(bad.length);
    setQuiet(null);
    notifier.look();
    await settle();
    expect(notifier.held()).toBeNull();
    expect(kinds(got.email).slice(bad.length)).toEqual(['held']);
    expect(got.ntfy).toHaveLength(bad.length + 1);
    expect(got.email.at(-1)?.text.split('\n')).toEqual([
      '4 notices waited for the end of the quiet hours:',
      '- 2026-11-21 02:31 UTC Backup completed: /home/ada to nas: The destination nas cannot be reached. Check the network.',
      expect.stringMatching(/^- 2026-11-21 02:31 UTC Backup completed with warnings: \/home\/ada to nas: /),
      expect.stringMatching(/^- 2026-11-21 02:31 UTC Old backups could not be removed/),
      expect.stringMatching(/^- 2026-11-21 02:31 UTC Restore completed/),
    ]);
  });

  it('a test message does not wait', async () => {
    const { got, start } = site();
    const notifier = start('email');
    expect(await notifier.test('email', new AbortController().signal)).toEqual({ ok: true });
    expect(kinds(got.email)).toEqual(['test']);
  });

  it('nothing is lost when the agent ends, and what comes first afterwards is told first', async () => {
    const { clock, got, held, start, setQuiet } = site();
    const before = start('email');
    before.notify(restored('at night'));
    await before.close();
    expect(got.email).toEqual([]);
    setQuiet(null);
    const after = start('email');
    after.notify(createNotice({ kind: 'restore.failed', host: 'workshop', text: 'in the morning' }, clock));
    await settle();
    // A single one is told as it is.
    expect(got.email.map(({ text }) => text)).toEqual(['at night', 'in the morning']);
    expect(held.kept.size).toBe(0);
  });

  it('are over when the settings say so, and a receiver that is gone gets nothing', async () => {
    const { got, held, gaveUp, sender, start, setQuiet } = site();
    const notifier = start('email', 'ntfy');
    notifier.notify(restored('a'));
    notifier.replace([sender('email')]);
    expect(gaveUp).toEqual(['ntfy: gave up on restore.completed: its receiver is no longer set up']);
    expect([...held.kept.keys()]).toEqual(['email']);
    setQuiet(null);
    notifier.replace([sender('email')]);
    await settle();
    expect(got).toMatchObject({ email: [{ id: 'a' }], ntfy: [] });
  });

  it('a hundred are held at most, the newest', async () => {
    const { held, gaveUp, start } = site();
    const notifier = start('email');
    const log = Array.from({ length: 100 }, () => 'x'.repeat(100));
    for (let count = 1; count <= 102; count += 1) notifier.notify({ ...restored(`r${count}`), log });
    expect(notifier.held()?.count).toBe(100);
    expect(gaveUp).toHaveLength(2);
    const kept = JSON.parse(held.kept.get('email') ?? '[]') as readonly Notice[];
    expect([kept[0]?.id, kept.at(-1)?.id]).toEqual(['r3', 'r102']);
    expect(kept[0]?.log.join('\n')).toHaveLength(4_000);
  });

  it('what was refused afterwards is news again', async () => {
    const { clock, got, start, setQuiet, setRefusing } = site();
    const notifier = start('email');
    const warn = (source: string): void =>
      notifier.notify(sampleNotice({ kind: 'backup.warning', source, id: source, at: clock.now() }));
    for (const source of ['/a', '/b']) warn(source);
    setQuiet(null);
    setRefusing(true);
    notifier.look();
    await settle();
    setRefusing(false);
    await clock.advance(3_600_000);
    for (const source of ['/a', '/b']) warn(source);
    await settle();
    expect(got.email.map(({ source }) => source)).toEqual(['/a', '/b']);
  });
});
