import { render } from 'preact-render-to-string';
import { afterEach, describe, expect, test, vi } from 'vitest';
import type { JobFields } from '../../../src/api/schemas/job.ts';
import type { PlanDocument } from '../../../src/enrollment/signed.ts';
import { heldBack } from '../../../src/enrollment/plan.ts';
import { waitingReason } from '../../../src/jobs/conditions.ts';
import type { PlainWait, Wait } from '../../../src/jobs/job.ts';
import { passingReason } from '../../../src/jobs/retry-delay.ts';
import { waitText } from '../../../src/jobs/wait-text.ts';
import { english } from '../../../src/ui/language/english/english.ts';
import { german } from '../../../src/ui/language/german/german.ts';
import { useLanguage } from '../../../src/ui/language/language.ts';
import { JobProgress, waitingWords } from '../../../src/ui/parts/job-progress.tsx';
import { backupJob } from '../../support/backup-job.ts';

afterEach(() => {
  vi.unstubAllGlobals();
});

describe('why a job waits', () => {
  const input = {
    conditions: { onBattery: 'wait', onMetered: 'wait', quietHours: null },
    timeZone: 'UTC',
    remote: true,
    destinationPresent: true,
  } as const;
  const plan: PlanDocument = {
    aud: 'dev_1',
    iat: 0,
    exp: 1,
    grace_until: 1,
    revision: 'one',
    plan: { slug: 'business', desktop_requests_per_hour: 10_000, storage_limit_bytes: 1 },
    status: 'active',
    trial_ends_at: null,
    expected_reports_seconds: 900,
  };
  const noon = Date.UTC(2026, 10, 22, 12);
  const job = { trigger: 'schedule' } as const;
  const circumstances = (onBattery: boolean, onMetered: boolean) => ({
    onBattery: async () => await Promise.resolve(onBattery),
    onMetered: async () => await Promise.resolve(onMetered),
  });

  const passing = (code: string): Wait | null =>
    passingReason({ code, message: '', details: {} }, 0, null, noon) ?? null;
  const waiting = (wait: Wait | null): Pick<JobFields, 'waits' | 'waiting_for'> => ({
    waits: wait,
    waiting_for: wait === null ? null : waitText(wait),
  });

  test('is known in the words of the page for each reason that the agent has', async () => {
    const quiet = { ...input, conditions: { ...input.conditions, quietHours: '11:00-13:30' } };
    const plain = (code: PlainWait): Wait => ({ code, params: {} });
    const settings = { afterTrial: 'wait', whileSuspended: 'wait' } as const;
    const held = (status: 'suspended' | 'trial_expired'): Wait | null => {
      const code = heldBack({ ...plan, status }, settings, noon);
      return code && plain(code);
    };
    const again = { whom: 'store', because: 'SlowDown', again_in_seconds: 16 } as const;
    const silent = { whom: 'file_system', silent_seconds: 200, given_up_in_seconds: null } as const;
    const said = [
      await waitingReason(job, { ...input, destinationPresent: false }, circumstances(false, false), noon),
      await waitingReason(job, quiet, circumstances(false, false), noon),
      await waitingReason(job, input, circumstances(true, false), noon),
      await waitingReason(job, input, circumstances(false, true), noon),
      plain('reader'),
      plain('earlier'),
      plain('turn'),
      plain('state_unwritable'),
      passing('DESTINATION_UNREACHABLE'),
      passing('REPOSITORY_LOCKED'),
      held('suspended'),
      held('trial_expired'),
      { code: 'paused', params: { until: null } },
      { code: 'paused', params: { until: '2026-11-22T12:00:00.000Z' } },
      { code: 'asked_again', params: again },
      { code: 'no_answer', params: silent },
    ] as const;
    const words = said.map((wait) => waitingWords({ ...waiting(wait), waiting_for: 'UNKNOWN' }));
    expect(words).not.toContain('UNKNOWN');
    expect(new Set(words).size).toBe(said.length);
    expect(words).toContain('Quiet hours: the job starts at 13:30.');
    expect(words).toContain('Waiting for the storage (SlowDown). Trying again in 16 s.');
    expect(words).toContain('Waiting for the file system: no answer for 3 min.');
  });

  test('is not another program alone where a run was broken off, as by a power cut', () => {
    const said = waiting(passing('REPOSITORY_LOCKED'));
    for (const words of [said.waiting_for, waitingWords(said), english.problems['REPOSITORY_LOCKED']])
      expect(words).toMatch(/broken off|interrupted/);
  });

  test('is what the agent says where it is not known', () => {
    const said = { waits: { code: 'full_moon', params: {} }, waiting_for: 'The moon is full.' };
    expect(waitingWords(said)).toBe('The moon is full.');
    expect(waitingWords({ ...said, waits: null })).toBe('The moon is full.');
  });
});

test('where a job is followed, why it waits is said in the language of the reader', async () => {
  vi.stubGlobal('document', { documentElement: {} });
  await useLanguage('de');
  try {
    const job = backupJob({
      status: 'queued',
      waiting_for: 'The computer runs on battery.',
      waits: { code: 'on_battery', params: {} },
    });
    const shown = render(<JobProgress job={job} />);
    expect(shown).toContain(german.parts.job.plainWaits.on_battery);
    expect(shown).not.toContain('battery');
  } finally {
    await useLanguage('en');
  }
});
