import { expect, test } from 'vitest';
import { deathDetails, deathHint, deathText, type Death } from '../../../src/jobs/attempt-errors.ts';

test.each<[Death, string, string]>([
  [
    { code: null, signal: 'SIGKILL' },
    'it was killed, which the system does when memory runs out',
    'Free up memory, or give the service more (MemoryMax= of its unit), then start the job again.',
  ],
  [
    { code: null, signal: 'SIGKILL', notReadyAfterMs: 300_000 },
    'it was not ready to work after 5m, and was ended for that',
    'Find out what keeps the computer so busy, then start the job again.',
  ],
  [{ code: 134, signal: null }, 'it ended with code 134', 'Start it again. If it happens again, report it.'],
  [
    { code: null, signal: 'SIGSEGV' },
    'it was ended by SIGSEGV',
    'Start it again. If it happens again, report it.',
  ],
  ['agent-ended', 'the agent itself ended', 'Start it again. If it happens again, report it.'],
])('%j', (how, text, hint) => {
  expect([deathText(how), deathHint(how)]).toEqual([text, hint]);
});

test('programs are told by what it was ended', () => {
  expect(deathDetails({ code: null, signal: 'SIGKILL' })).toEqual({
    code: null,
    signal: 'SIGKILL',
    not_ready_after_ms: null,
  });
});
