import { describe, expect, it, onTestFinished } from 'vitest';
import type { Notice } from '../../../src/notify/notice.ts';
import { GATHER_MS } from '../../../src/notify/gathering.ts';
import { Notifier } from '../../../src/notify/notifier.ts';
import { DeliveryError, type Sender } from '../../../src/notify/sender.ts';
import { manualClock, settle } from '../../support/manual-clock.ts';
import { sampleNotice } from './sample-notice.ts';

function site(refuses = false) {
  const clock = manualClock();
  const [people, programs]: [Notice[], Notice[]] = [[], []];
  const sender = (name: string, everything: boolean, got: Notice[]): Sender => ({
    name,
    everything,
    keeps: false,
    send: async (notice) => {
      await Promise.resolve();
      got.push(notice);
      if (refuses) throw new DeliveryError('refused for good', { retry: 'never' });
    },
    close: () => undefined,
  });
  const notifier = new Notifier([sender('email', false, people), sender('webhook', true, programs)], {
    clock,
    host: 'workshop',
    log: () => undefined,
  });
  onTestFinished(async () => await notifier.close());
  const pass = async (ms: number): Promise<void> => {
    await settle();
    await clock.advance(ms);
    await settle();
  };
  const tell = (source: string, facts: Partial<Notice> = {}): void =>
    notifier.notify(sampleNotice({ id: `msg ${source}`, source, at: clock.now(), ...facts }));
  const gone = (source: string): void => {
    const job = { id: `bkp ${source}`, durationMs: 1, exitStatus: 1, errorCode: 'SOURCE_SUSPICIOUSLY_EMPTY' };
    const text = `${source} has disappeared. It had 1 file at its last backup.`;
    tell(source, { job, text });
    tell(source, { kind: 'alarm', job: null, isSaidByJob: true, text: `${text} No backup was made.` });
  };
  return { notifier, people, programs, pass, tell, gone };
}

const texts = (notices: readonly Notice[]): readonly string[] => notices.map(({ text }) => text);

describe('notices about many sources at once', () => {
  it('are two for people, the first at once, and each for programs', async () => {
    const { people, programs, pass, gone } = site();
    for (let index = 1; index <= 30; index += 1) {
      gone(`/disk/s${index}`);
      await pass(1_000);
    }
    expect(texts(people)).toEqual(['/disk/s1 has disappeared. It had 1 file at its last backup.']);
    await pass(GATHER_MS);
    expect(people).toHaveLength(2);
    expect(people[1]).toMatchObject({ kind: 'backup.failed', source: null, destination: 'nas' });
    const [head, ...lines] = people[1]?.text.split('\n') ?? [];
    expect(head).toBe(
      '29 more backups failed at about the same time and for the same reason (SOURCE_SUSPICIOUSLY_EMPTY):',
    );
    expect(lines).toHaveLength(29);
    expect(lines[28]).toBe(
      '- /disk/s30 to nas: /disk/s30 has disappeared. It had 1 file at its last backup.',
    );
    expect(programs).toHaveLength(60);
    // Nothing more came, so the next one is told at once again.
    await pass(2 * GATHER_MS);
    gone('/other');
    await pass(0);
    expect(people).toHaveLength(3);
  });

  it('stay apart when their causes differ, and an alarm about something else is told', async () => {
    const { people, pass, tell } = site();
    tell('/a');
    tell('/b', { job: { id: 'bkp', durationMs: 1, exitStatus: 1, errorCode: 'INSUFFICIENT_STORAGE' } });
    tell('/a', { kind: 'alarm', job: null, text: '200 of 300 files disappeared from /a.' });
    tell('/a', { kind: 'check.failed', job: null, text: 'damaged' });
    await pass(0);
    expect(people.map(({ kind }) => kind)).toEqual([
      'backup.failed',
      'backup.failed',
      'alarm',
      'check.failed',
    ]);
    tell('/c');
    await pass(GATHER_MS);
    // A single one is told as it is.
    expect(people.at(-1)).toMatchObject({ id: 'msg /c', source: '/c' });
  });

  it('are sent when the agent ends', async () => {
    const { notifier, people, tell } = site();
    for (const source of ['/a', '/b', '/c']) tell(source);
    await notifier.close();
    expect(people).toHaveLength(2);
    expect(people[1]?.text).toContain('2 more backups failed');
  });

  it('are news again when their receiver has refused them', async () => {
    const { people, pass, tell } = site(true);
    for (const source of ['/a', '/b', '/c']) tell(source);
    await pass(GATHER_MS);
    await pass(GATHER_MS);
    const { length } = people;
    await pass(3_600_000);
    tell('/c');
    await pass(0);
    expect(people.length).toBe(length + 1);
  });
});
