/** The ten pages of settings, and the way between them. */
import type { ComponentType, JSX } from 'preact';
import { later } from '../../later.tsx';
import { t, type Texts } from '../../language/language.ts';
import { hrefOf, type Route } from '../../route.ts';

type PageName = keyof Texts['settings']['pages'];

const PAGES: Readonly<Record<PageName, ComponentType<{ readonly route: Route }>>> = {
  overview: later(async () => (await import('./overview-settings.tsx')).OverviewSettings),
  sources: later(async () => (await import('./source-settings.tsx')).SourceSettings),
  destinations: later(async () => (await import('./destination-settings.tsx')).DestinationSettings),
  schedule: later(async () => (await import('./schedule-settings.tsx')).ScheduleSettings),
  encryption: later(async () => (await import('./encryption-settings.tsx')).EncryptionSettings),
  performance: later(async () => (await import('./performance-settings.tsx')).PerformanceSettings),
  notifications: later(async () => (await import('./notification-settings.tsx')).NotificationSettings),
  access: later(async () => (await import('./access-settings.tsx')).AccessSettings),
  account: later(async () => (await import('./account-settings.tsx')).AccountSettings),
  advanced: later(async () => (await import('./advanced-settings.tsx')).AdvancedSettings),
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
