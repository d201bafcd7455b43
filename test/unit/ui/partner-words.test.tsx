/** What the page says about the Partner service: in the words of its language, and not in those of the agent. */
import { render } from 'preact-render-to-string';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { Statement } from '../../../src/api/schemas/page/overview.ts';
import { Account } from '../../../src/api/schemas/page/settings.ts';
import { PARTNER_CHECK_CODES, REPORT_PROBLEMS } from '../../../src/jobs/agent.ts';
import { type Language, LANGUAGES, t, useLanguage } from '../../../src/ui/language/language.ts';
import { EnrollProblem, PartnerCard } from '../../../src/ui/pages/settings/partner-card.tsx';

afterEach(async () => {
  vi.stubGlobal('document', { documentElement: { lang: '' } });
  await useLanguage('en');
  vi.unstubAllGlobals();
});

const PARTNER = {
  service: 'https://partner.example',
  device_id: 'dev_1',
  customer_id: 'cus_1',
  name: 'desk',
  enrolled_at: '2026-11-22T12:00:00.000Z',
  status: 'active',
  plan_expires_at: null,
  grace_until: null,
  last_report_at: null,
  results_waiting: 2,
} as const;

test('the page knows all that the agent can say', () => {
  expect(JSON.stringify(Statement.properties.check_code)).toContain(JSON.stringify(PARTNER_CHECK_CODES));
  expect(JSON.stringify(Account.properties.partner)).toContain(JSON.stringify(REPORT_PROBLEMS));
});

describe.each(Object.keys(LANGUAGES) as Language[])('in the language %s', (language) => {
  test('a problem with reports is told with words of that language', async () => {
    vi.stubGlobal('document', { documentElement: { lang: '' } });
    await useLanguage(language);
    const shown = REPORT_PROBLEMS.map((problem) =>
      render(<PartnerCard partner={{ ...PARTNER, problem }} onLeft={() => undefined} />),
    );
    expect(new Set(shown).size).toBe(REPORT_PROBLEMS.length);
    for (const [at, problem] of REPORT_PROBLEMS.entries()) {
      const [first = ''] = t.account.reportProblems[problem].split(/[&<'"]/);
      expect(shown[at]).toContain(first);
    }
  });

  test('a refused enrollment is told with words of that language, and any other in those of the agent', async () => {
    vi.stubGlobal('document', { documentElement: { lang: '' } });
    await useLanguage(language);
    const said = (reason: string): string =>
      render(
        <EnrollProblem
          error={{ code: 'ENROLLMENT_TOKEN_INVALID', details: { reason }, message: 'Words of the agent' }}
        />,
      );
    for (const reason of Object.keys(t.account.enrollProblems))
      expect(said(reason)).not.toContain('Words of the agent');
    expect(said('novelty')).toContain('Words of the agent');
  });
});
