/** While the first backup to a new destination runs, the earlier ones are there to be restored, and the page says so. */
import { render } from 'preact-render-to-string';
import { expect, test } from 'vitest';
import type { OverviewSource } from '../../../src/api/schemas/page/overview.ts';
import { OverviewProvider } from '../../../src/ui/agent/overview.ts';
import { OverviewPage } from '../../../src/ui/pages/overview/overview-page.tsx';
import { overviewOnPage } from '../../support/overview-on-page.ts';

const AT = new Date(Date.now() - 3 * 3_600_000).toISOString();

const row: OverviewSource = {
  path: '/home/ana',
  name: '~',
  destination: 'usb',
  schedule: null,
  last_good_backup_at: null,
  earlier_backup_at: null,
  next_run_at: null,
  overdue: false,
  watching: true,
  files: null,
  size_bytes: null,
  history: [],
};

function shown(source: OverviewSource, snapshots: number): string {
  const page = overviewOnPage(AT);
  const figures = snapshots === 0 ? {} : { earlier: 1 };
  const headline = { ...page.headline, level: 'warning', code: 'first_backup_runs', figures } as const;
  const to = snapshots === 0 ? [] : ['usb'];
  const saved = { snapshot_bytes: snapshots, snapshots, stored_bytes: snapshots };
  const data = { ...page, headline: { ...headline, to }, saved, sources: [source] };
  const asked = { data, problem: undefined, isBusy: false, again: () => undefined };
  const html = render(
    <OverviewProvider value={asked}>
      <OverviewPage route={{ path: [], query: new URLSearchParams() }} />
    </OverviewProvider>,
  );
  return html.replaceAll(/<[^>]*>/g, '');
}

test('with earlier backups', () => {
  const text = shown({ ...row, earlier_backup_at: AT, files: 11, size_bytes: 1 }, 11);
  expect(text).toContain('Protected by your earlier backups; the first backup to “usb” is running');
  expect(text).toContain('Get a file back');
  expect(text).toContain('earlier backup 3 hours ago');
});

test('without any', () => {
  const text = shown(row, 0);
  expect(text).toContain('Not protected yet: the first backup is running');
  expect(text).not.toContain('Get a file back');
  expect(text).toContain('not backed up yet');
});
