import { expect, test } from 'vitest';
import { presentEvent } from '../../../../src/api/routes/event-stream.ts';
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

test('any other event has its data', () => {
  expect(presentEvent('alarm', 0, undefined, { reason: 'burst' }, 0)).toMatchObject({
    job: null,
    data: { reason: 'burst' },
  });
});
