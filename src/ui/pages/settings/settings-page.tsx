/** The ten pages of settings, and the navigation between them. */
import type { ComponentType, JSX } from 'preact';
import { t, type Texts } from '../../language/language.ts';
import { hrefOf, type Route } from '../../parts/route.ts';
import { AccessSettings } from './access-settings.tsx';
import { AccountSettings } from './account-settings.tsx';
import { AdvancedSettings } from './advanced-settings.tsx';
import { DestinationSettings } from './destination-settings.tsx';
import { EncryptionSettings } from './encryption-settings.tsx';
import { NotificationSettings } from './notification-settings.tsx';
import { OverviewSettings } from './overview-settings.tsx';
import { PerformanceSettings } from './performance-settings.tsx';
import { ScheduleSettings } from './schedule-settings.tsx';
import { SourceSettings } from './source-settings.tsx';

type PageName = keyof Texts['settings']['pages'];

const PAGES: Readonly<Record<PageName, ComponentType<{ readonly route: Route }>>> = {
  overview: OverviewSettings,
  sources: SourceSettings,
  destinations: DestinationSettings,
  schedule: ScheduleSettings,
  encryption: EncryptionSettings,
  performance: PerformanceSettings,
  notifications: NotificationSettings,
  access: AccessSettings,
  account: AccountSettings,
  advanced: AdvancedSettings,
};

function isPageName(name: string): name is PageName {
  return Object.hasOwn(PAGES, name);
}

export function SettingsPage({ route }: { readonly route: Route }): JSX.Element {
  const [, name = 'overview'] = route.path;
  const current = isPageName(name) ? name : 'overview';
  const Page = PAGES[current];
  return (
    <div class="with-side">
      <nav class="side" aria-label={t.settings.title}>
        <ul>
          {Object.keys(PAGES)
            .filter(isPageName)
            .map((page) => (
              <li key={page}>
                <a href={hrefOf(['settings', page])} aria-current={page === current ? 'page' : undefined}>
                  {t.settings.pages[page]}
                </a>
              </li>
            ))}
        </ul>
      </nav>
      <div class="side-content">
        <Page key={current} route={route} />
      </div>
    </div>
  );
}
