import { render } from 'preact-render-to-string';
import { afterEach, describe, expect, test, vi } from 'vitest';
import type { PlanDocument } from '../../../src/enrollment/signed.ts';
import { heldBack } from '../../../src/enrollment/plan.ts';
import { waitingReason } from '../../../src/jobs/conditions.ts';
import { WAITS_FOR_READER } from '../../../src/jobs/pass.ts';
import { WAITS_FOR_EARLIER } from '../../../src/jobs/queue.ts';
import { passingReason } from '../../../src/jobs/retry-delay.ts';
import { english } from '../../../src/ui/language/english/english.ts';
import { german } from '../../../src/ui/language/german/german.ts';
import { useLanguage } from '../../../src/ui/language/language.ts';
import { JobProgress } from '../../../src/ui/parts/job-progress.tsx';
import { waitingWords } from '../../../src/ui/parts/waiting-words.ts';
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

  test('is known in other words for each sentence that the agent says', async () => {
    const quiet = { ...input, conditions: { ...input.conditions, quietHours: '11:00-13:30' } };
    const said = [
      await waitingReason(job, { ...input, destinationPresent: false }, circumstances(false, false), noon),
      await waitingReason(job, quiet, circumstances(false, false), noon),
      await waitingReason(job, input, circumstances(true, false), noon),
      await waitingReason(job, input, circumstances(false, true), noon),
      WAITS_FOR_READER,
      WAITS_FOR_EARLIER,
      passingReason({ code: 'DESTINATION_UNREACHABLE', message: '', details: {} }, 0, null, noon) ?? null,
      passingReason({ code: 'REPOSITORY_LOCKED', message: '', details: {} }, 0, null, noon) ?? null,
      heldBack({ ...plan, status: 'suspended' }, { afterTrial: 'wait', whileSuspended: 'wait' }, noon),
      heldBack({ ...plan, status: 'trial_expired' }, { afterTrial: 'wait', whileSuspended: 'wait' }, noon),
    ];
    for (const reason of said) {
      expect(reason).not.toBeNull();
      expect(Object.values(english.parts.job.waits).map((words) => words('13:30', '', ''))).toContain(
        waitingWords(reason ?? ''),
      );
    }
    expect(new Set(said.map((reason) => waitingWords(reason ?? ''))).size).toBe(said.length);
  });

  test('is not another program alone where a run was broken off, as by a power cut', () => {
    const said = passingReason({ code: 'REPOSITORY_LOCKED', message: '', details: {} }, 0, null, noon) ?? '';
    for (const words of [said, waitingWords(said), english.problems['REPOSITORY_LOCKED']])
      expect(words).toContain('broken off');
  });

  test('is what the agent says where it is not known', () => {
    expect(waitingWords('The moon is full.')).toBe('The moon is full.');
  });
});

test('where a job is followed, why it waits is said in the language of the reader', async () => {
  vi.stubGlobal('document', { documentElement: {} });
  await useLanguage('de');
  try {
    const job = backupJob({ status: 'queued', waiting_for: 'The computer runs on battery.' });
    const shown = render(<JobProgress job={job} />);
    expect(shown).toContain(german.parts.job.waits.battery());
    expect(shown).not.toContain('battery');
  } finally {
    await useLanguage('en');
  }
});
