/** What the page's settings need of the agent, where only HTTP is meant. */
import type { PageSettings } from '../../src/api/page/settings-area.ts';
import { RequestError } from '../../src/base/errors.ts';
import type { PartnerStatus } from '../../src/jobs/agent.ts';

const START = Date.UTC(2026, 10, 20);

export function testPageSettings(): PageSettings {
  let enrolled: PartnerStatus | null = null;
  return {
    nextRuns: async (schedule) => {
      if (schedule === 'off') return [];
      if (schedule === 'daily') return [START, START + 86_400_000];
      throw new RequestError('INVALID_SCHEDULE', `'${schedule}' is not a schedule`, { hint: 'Write daily.' });
    },
    forgetting: async (retention, destination = 'default') => ({
      destination,
      kept: 1,
      removed: retention?.keepLast ?? 0,
      items: [
        {
          id: 'ab'.repeat(32),
          source: '/home/ana',
          created_at: START,
          size_bytes: 7,
          keep: true,
          reasons: ['last', 'pinned'],
        },
      ],
    }),
    testNotice: async (channel) => (channel === 'ntfy' ? null : `There is no ${channel}`),
    enrollment: {
      status: () => enrolled,
      enroll: async ({ url, token, name }) => {
        if (token !== 'hfe_good')
          throw new RequestError('ENROLLMENT_TOKEN_INVALID', 'The token is unknown', { hint: 'Ask again.' });
        if (enrolled !== null)
          throw new RequestError('ALREADY_ENROLLED', 'This device is already enrolled', { hint: '' });
        enrolled = { ...ENROLLED, service: url, name: name ?? 'this-machine' };
      },
      leave: async () => {
        if (enrolled === null) throw new RequestError('NOT_ENROLLED', 'This device is not enrolled');
        enrolled = null;
      },
    },
    about: async () =>
      await Promise.resolve({
        installed_version: '9.8.7',
        newest_version: null,
        version: '9.8.7',
        node: '24.0.0',
        platform: 'linux-x64',
        state_directory: '/state',
        config_file: '/state/config.json',
        config_error: { message: 'It is broken', line: 3, column: null },
        desktop: 'ready',
        addresses: ['http://127.0.0.1:7390'],
      }),
    agentLog: async ({ lines, level }) => ({
      file: '/state/agent.log',
      lines: [{ at: new Date(START).toISOString(), level, text: `${lines} lines` }],
    }),
    diagnostics: async () => ({ text: 'All of it\n', madeAt: START }),
  };
}

const ENROLLED: PartnerStatus = {
  service: '',
  device_id: 'dev_1',
  customer_id: 'cus_1',
  name: '',
  enrolled_at: START,
  plan: {
    slug: 'pro',
    desktop_requests_per_hour: 1_000,
    status: 'active',
    expires_at: START,
    grace_until: START,
  },
  reports: { last_at: null, results_waiting: 0, results_dropped: 0, problem: null, problem_code: null },
};
