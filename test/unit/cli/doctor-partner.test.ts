import { describe, expect, test } from 'vitest';
import { partnerFinding } from '../../../src/cli/doctor/partner.ts';
import { reportsLine } from '../../../src/cli/agent/enroll.ts';
import { PartnerError } from '../../../src/enrollment/ask-partner.ts';
import { reportProblem } from '../../../src/enrollment/status.ts';
import type { PartnerStatus } from '../../../src/jobs/agent.ts';

const REPORTS = {
  last_at: Date.UTC(2026, 10, 30, 9),
  results_waiting: 0,
  results_dropped: 0,
  problem: null,
  problem_code: null,
};

function finding(facts: Partial<PartnerStatus>): ReturnType<typeof partnerFinding> {
  return partnerFinding({
    service: 'https://partner.example',
    device_id: 'dev_1',
    customer_id: 'cus_1',
    name: 'office',
    enrolled_at: 0,
    plan: null,
    reports: REPORTS,
    ...facts,
  });
}

describe('what doctor says of the partner', () => {
  test('a machine whose reports arrive', () => {
    expect(finding({})).toEqual({
      check: 'partner',
      status: 'ok',
      message: 'Enrolled with https://partner.example as office; last report 2026-11-30 09:00',
      hint: '',
    });
  });

  test('a service out of reach needs nothing from people at once', () => {
    const problem = 'The Partner service at partner.example cannot be reached: the connection was refused';
    expect(
      finding({ reports: { ...REPORTS, last_at: null, problem, problem_code: 'unreachable' } }),
    ).toMatchObject({
      status: 'warning',
      message: `${problem}; no report since the agent started`,
      hint: 'Backups and restores do not need it. If this lasts, tell your partner.',
    });
  });

  test('a device that the partner has removed is named as such, as `holdfast status` names it', () => {
    const refused = new PartnerError('PARTNER_REFUSED', 'The service answered with status 401', {
      status: 401,
      reason: 'INVALID_API_KEY',
    });
    const reports = { ...REPORTS, ...reportProblem(refused) };
    const hint = 'End the enrollment with: holdfast enroll --leave';
    expect(finding({ reports })).toMatchObject({
      message: expect.stringMatching(/^The Partner service no longer knows this device; last report /),
      hint: `Backups and restores do not need it. ${hint}`,
    });
    expect(reportsLine(reports)).toContain(`The Partner service no longer knows this device. ${hint}`);
  });

  test('a partner who is suspended is named as such', () => {
    const refused = new PartnerError('PARTNER_REFUSED', 'The service answered with status 403', {
      status: 403,
      reason: 'PARTNER_SUSPENDED',
    });
    expect(reportProblem(refused)).toEqual({
      problem:
        'Your partner’s account with the Partner service is suspended; reports wait until it is resumed',
      problem_code: 'partner_suspended',
    });
  });
});
