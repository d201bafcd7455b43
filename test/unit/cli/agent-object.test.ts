import { expect, test } from 'vitest';
import { agentObject } from '../../../src/cli/agent/ask-agent.ts';

test('names are in snake_case and times in RFC 3339, at every depth', () => {
  const at = Date.UTC(2026, 10, 21, 13, 5);
  expect(
    agentObject({
      at,
      until: null,
      grace_until: at,
      attempt: at,
      format: 1,
      ifPresent: ['.noBackup'],
      hooks: { timeoutSeconds: 60, onFailure: 'fail' },
      jobs: [{ created_at: at, startedAt: at, flat: 3 }, 'createdAt', null],
    }),
  ).toEqual({
    at: '2026-11-21T13:05:00.000Z',
    until: null,
    grace_until: '2026-11-21T13:05:00.000Z',
    attempt: at,
    format: 1,
    if_present: ['.noBackup'],
    hooks: { timeout_seconds: 60, on_failure: 'fail' },
    jobs: [
      { created_at: '2026-11-21T13:05:00.000Z', started_at: '2026-11-21T13:05:00.000Z', flat: 3 },
      'createdAt',
      null,
    ],
  });
});

test('names that a person has given stay as they are', () => {
  expect(agentObject({ last_good_backup_at: { myNas: 0, usb: null } })).toEqual({
    last_good_backup_at: { myNas: '1970-01-01T00:00:00.000Z', usb: null },
  });
});

test('a pause of a million years has an end that can be written', () => {
  expect(agentObject({ until: 9e15 })).toEqual({ until: '9999-12-31T23:59:59.999Z' });
});
