import { afterEach, expect, test, vi } from 'vitest';
import type { Snapshot } from '../../../src/api/schemas/snapshot.ts';
import { OverviewProvider } from '../../../src/ui/agent/overview.ts';
import { BrowsePage } from '../../../src/ui/pages/restore/browse-page.tsx';
import { textRef } from '../../../src/ui/pages/restore/path-ref.ts';
import type { Scope } from '../../../src/ui/pages/restore/place.ts';
import { NOTHING } from '../../../src/ui/pages/restore/selection.ts';
import { overviewOnPage } from '../../support/overview-on-page.ts';
import { smallPage } from '../../support/small-document.ts';

afterEach(() => {
  vi.unstubAllGlobals();
});

const AT = '2026-11-22T16:05:00Z';
const SNAPSHOT: Snapshot = {
  id: '0123456789abcdef0123',
  source: '/home/ana',
  destination: 'usb',
  host: 'pine',
  stored_by: { key: 'full', write_only_key: null, label: null },
  claimed_start: null,
  tags: [],
  pinned: false,
  partial: false,
  unread_files: { count: 0, paths: [] },
  created_at: AT,
  files_count: 1,
  size_bytes: 1,
  unreadable_directories: 0,
  backup_id: null,
  last_drill: null,
};

test.each<readonly [string, string, Scope, readonly string[]]>([
  ['a folder', '', 'all', ['holdfast ls -r usb 0123456789ab /home/ana --long']],
  [
    'a search of this backup',
    'thesis',
    'snapshot',
    [`holdfast find -r usb '*thesis*' --ignore-case --snapshot 0123456789ab`],
  ],
  [
    'a search of all backups',
    'thesis',
    'all',
    [`holdfast find '*thesis*' --ignore-case`, `holdfast find -r usb '*thesis*' --ignore-case`],
  ],
])('the commands of %s find a backup that is not in the default destination', async (_, q, scope, wanted) => {
  vi.stubGlobal('location', { hash: '#/restore', replace: () => undefined });
  vi.stubGlobal(
    'ResizeObserver',
    class {
      observe(): void {}
      disconnect(): void {}
    },
  );
  vi.stubGlobal('fetch', async (url: string) =>
    Response.json({
      success: true,
      data: {
        items: url.includes('/snapshots') ? [SNAPSHOT] : [],
        next_cursor: null,
        has_more: false,
        total: 0,
      },
    }),
  );
  const place = {
    source: '/home/ana',
    destination: undefined,
    snapshot: SNAPSHOT.id,
    directory: textRef('/home/ana'),
    sort: 'name',
    q,
    scope,
    file: undefined,
  } as const;
  const known = { data: overviewOnPage(AT), problem: undefined, isBusy: false, again: () => undefined };
  using page = await smallPage(
    <OverviewProvider value={known}>
      <BrowsePage place={place} selection={NOTHING} onSelection={() => undefined} />
    </OverviewProvider>,
  );
  expect(page.all('pre').map(({ textContent }) => textContent)).toEqual([wanted.join('\n')]);
});
