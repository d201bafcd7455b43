import { expect, test } from 'vitest';
import { presentEvent } from '../../../../src/api/presentation/event.ts';
import { BACKUP_SPEC, jobOf } from '../../../support/api-jobs.ts';

test('an event about a job has the job, and nothing of what is kept with it', () => {
  const event = presentEvent('job.updated', 0, jobOf(BACKUP_SPEC), { spec: 'secret' }, 0);
  expect(event).toMatchObject({
    type: 'job.updated',
    at: '1970-01-01T00:00:00.000Z',
    job: { type: 'backup' },
  });
  expect(event.data).toEqual({});
});

test('an alarm has its times and its snapshot in the form of the API, and nothing that only the agent needs', () => {
  const alarm = {
    id: 'alm_shrunk_0_1a2b3c4d',
    kind: 'shrunk',
    source: '/home/ana',
    at: 1_000,
    text: '80 of 100 files disappeared from /home/ana.',
    facts: { files_before: 100, files_now: 20 },
    before: { snapshot: '3f5c', destination: 'sftp://ana:secret@host/x' },
    since: { files: 20, at: null },
  };
  const { data } = presentEvent('alarm', 0, undefined, alarm, 0);
  expect(data).toEqual({
    id: alarm.id,
    kind: 'shrunk',
    source: '/home/ana',
    at: '1970-01-01T00:00:01.000Z',
    text: alarm.text,
    facts: alarm.facts,
    before: { snapshot_id: '3f5c', destination: 'sftp://ana@host/x' },
    mended_at: null,
  });
  const { before: _, ...old } = { ...alarm, mended_at: 2_000 };
  expect(presentEvent('alarm', 0, undefined, old, 0).data).toMatchObject({
    before: null,
    mended_at: '1970-01-01T00:00:02.000Z',
  });
});

test.each([
  ['status', { paused: false }, { paused: false, paused_until: null }],
  ['status', { paused: true, until: null }, { paused: true, paused_until: null }],
  ['status', { paused: true, until: 0 }, { paused: true, paused_until: '1970-01-01T00:00:00.000Z' }],
  ['config', { status: 'ok', error: null }, { status: 'ok', error: null }],
  ['config', { status: 'degraded', error: 'line 3' }, { status: 'degraded', error: 'line 3' }],
] as const)('an event %s is told as requests tell the same: %j', (kind, stored, shown) => {
  expect(presentEvent(kind, 0, undefined, stored, 0)).toMatchObject({ type: kind, job: null, data: shown });
});
