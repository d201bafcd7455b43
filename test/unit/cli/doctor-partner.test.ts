import { describe, expect, test } from 'vitest';
import { partnerFinding } from '../../../src/cli/doctor/partner.ts';
import type { PartnerStatus } from '../../../src/jobs/agent.ts';

const REPORTS = { last_at: Date.UTC(2026, 10, 30, 9), results_waiting: 0, results_dropped: 0, problem: null };

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
    expect(finding({ reports: { ...REPORTS, last_at: null, problem } })).toMatchObject({
      status: 'warning',
      message: `${problem}; no report since the agent started`,
      hint: 'Backups and restores do not need it. If this lasts, tell your partner.',
    });
  });
});
