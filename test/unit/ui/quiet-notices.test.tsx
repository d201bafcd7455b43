/** The quiet hours of notices on the page: the field, and what is held now. */
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import type { Overview } from '../../../src/api/schemas/page/overview.ts';
import { OverviewProvider } from '../../../src/ui/agent/overview.ts';
import { LANGUAGES } from '../../../src/ui/language/language.ts';
import { NotificationSettings } from '../../../src/ui/pages/settings/notification-settings.tsx';
import { readRoute } from '../../../src/ui/parts/route.ts';
import { overviewOnPage } from '../../support/overview-on-page.ts';
import { settingsOnPage } from '../../support/settings-on-page.ts';
import { type SmallPage, smallPage } from '../../support/small-document.ts';

const NAME = 'notices.quietHours';
const AT = '2026-11-22T23:05:00Z';

beforeEach(() => {
  vi.stubGlobal('localStorage', { getItem: () => null, setItem: () => undefined });
});
afterEach(() => {
  vi.unstubAllGlobals();
});

async function pageOf(quietHours: string | null, held: Overview['held_notices'] = null): Promise<SmallPage> {
  settingsOnPage({ notices: { quietHours } });
  const overview = { ...overviewOnPage(AT), held_notices: held };
  const asked = { data: overview, problem: undefined, isBusy: false, again: () => undefined };
  return await smallPage(
    <OverviewProvider value={asked}>
      <NotificationSettings route={readRoute('#/settings/notifications')} />
    </OverviewProvider>,
  );
}

describe('the quiet hours of notices', () => {
  test('are switched on with hours that most people sleep, changed, and given as a command', async () => {
    using page = await pageOf(null);
    expect(page.text).toContain('Quiet hours of notifications');
    expect(page.text).toContain('holdfast config set notices.quietHours null');
    await page.tick(page.field(NAME), true);
    expect(page.text).toContain('holdfast config set notices.quietHours 22:00-07:00');
    await page.type(page.field(`${NAME}-to`), '06:30');
    expect(page.text).toContain('holdfast config set notices.quietHours 22:00-06:30');
    await page.tick(page.field(NAME), false);
    expect(page.text).not.toContain('22:00-06:30');
  });

  test('show how many notices are held, and until when', async () => {
    using none = await pageOf('22:00-07:00');
    expect(none.text).not.toContain('held');
    using one = await pageOf('22:00-07:00', { count: 1, until: '07:00' });
    expect(one.text).toContain('1 notification is held until 07:00.');
    using several = await pageOf('22:00-07:00', { count: 2, until: '07:00' });
    expect(several.text).toContain('2 notifications are held until 07:00.');
  });

  test.each(Object.entries(LANGUAGES))('are told in %s with number and time', async (_code, { load }) => {
    const { notifications } = await load();
    for (const count of [1, 2]) {
      const said = notifications.held(count, String(count), '07:00');
      expect(said).toContain(String(count));
      expect(said).toContain('07:00');
    }
  });
});
