/** The commands below a page of settings set everything that has a field on it. */
import { afterEach, expect, test, vi } from 'vitest';
import { OverviewProvider } from '../../../src/ui/agent/overview.ts';
import { NotificationSettings } from '../../../src/ui/pages/settings/notification-settings.tsx';
import { PerformanceSettings } from '../../../src/ui/pages/settings/performance-settings.tsx';
import { ScheduleSettings } from '../../../src/ui/pages/settings/schedule-settings.tsx';
import { DEFAULTS } from '../../../src/ui/pages/settings/settings-values.ts';
import { readRoute } from '../../../src/ui/parts/route.ts';
import { overviewOnPage } from '../../support/overview-on-page.ts';
import { settingsOnPage } from '../../support/settings-on-page.ts';
import { smallPage } from '../../support/small-document.ts';

const PAGES = {
  'schedule-settings.tsx': ScheduleSettings,
  'performance-settings.tsx': PerformanceSettings,
  'notification-settings.tsx': NotificationSettings,
};

/** With a value for all that has no field without one. */
const SETTINGS = {
  sources: [{ path: '/home/ana' }],
  bandwidth: [{ from: '08:00', uploadLimit: '2 MiB' }],
  conditions: { quietHours: '22:00-06:00' },
  notices: {
    ntfy: { url: 'https://ntfy.sh/ana' },
    healthchecks: { url: 'https://hc-ping.com/ana' },
    webhook: { url: 'https://example.org/hook' },
    email: { host: 'mail.example.org', from: 'a@example.org', to: ['a@example.org'] },
  },
};

afterEach(() => {
  vi.unstubAllGlobals();
});

test.each(Object.entries(PAGES))('of %s', async (file, Page) => {
  vi.stubGlobal('localStorage', { getItem: () => null, setItem: () => undefined });
  settingsOnPage(SETTINGS);
  const asked = {
    data: overviewOnPage('2026-11-22T16:05:00Z'),
    problem: undefined,
    isBusy: false,
    again: () => undefined,
  };
  using page = await smallPage(
    <OverviewProvider value={asked}>
      <Page route={readRoute('#/settings')} />
    </OverviewProvider>,
  );
  const set = [...page.text.matchAll(/holdfast config set '?([\w.[\]]+)/g)].map(([, path = '']) => path);
  const fields = ['input', 'select', 'textarea']
    .flatMap((kind) => page.all(kind))
    // A field of a part of a value, such as a time, has the name of the setting before a dash.
    .map(({ attributes }) => (attributes.get('name') ?? '').replace(/-.*/, ''))
    .filter((field) => Object.hasOwn(DEFAULTS, /^\w*/.exec(field)?.[0] ?? ''));
  expect(fields.length).toBeGreaterThan(0);
  const isBelow = (field: string, path: string): boolean => /^$|^[.[]/.test(field.slice(path.length));
  const isSet = (field: string): boolean =>
    set.some((path) => field.startsWith(path) && isBelow(field, path));
  const where = `pathsOf in src/ui/pages/settings/${file} lacks them`;
  expect(
    fields.filter((field) => !isSet(field)),
    where,
  ).toEqual([]);
});
