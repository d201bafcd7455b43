/** What the page shows of a test agent beyond the Desktop API: nothing has happened yet. */
import type { PageInsight } from '../../src/api/page/insight-routes.ts';
import type { Agent } from '../../src/jobs/agent.ts';

export function testInsight(agent: Pick<Agent, 'jobs'>, more: Partial<PageInsight> = {}): PageInsight {
  return {
    overview: {
      newest: () => undefined,
      history: () => [],
      recent: () => agent.jobs({ limit: 10 }).filter((job) => job.finished_at !== null),
      stored: () => [],
      last: () => null,
      freeBytes: async () => null,
      defaultDestination: () => 'default',
      holdings: () => ({ snapshots: 0, bytes: 0 }),
      isCounted: () => false,
      alarms: () => [],
      days: () => [],
      names: () => new Map(),
      pause: () => undefined,
      isOpenedByKit: () => true,
      recoveryKit: () => 'none',
      uploadLimit: () => null,
    },
    alarms: { open: () => [], acknowledge: () => [] },
    previewOf: () => undefined,
    entries: async () => ({ items: [], total: 0 }),
    search: async () => ({ items: [], unreadable: 0, next: null }),
    ...more,
  };
}
