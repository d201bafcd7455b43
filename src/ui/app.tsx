/** The frame around all pages, and the choice of the page that is shown. */
import type { ComponentType, JSX } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import { ask, AskError } from './agent/ask.ts';
import { OverviewProvider, useAskedOverview } from './agent/overview.ts';
import { useAction } from './agent/use-asked.ts';
import { Banners } from './banners.tsx';
import { Button } from './components/button.tsx';
import { PageHead } from './components/card.tsx';
import { Top } from './components/frame.tsx';
import { Problem } from './components/problem.tsx';
import { later } from './later.tsx';
import { LANGUAGES, type Language, language, t } from './language/language.ts';
import { FirstRunPage } from './pages/first-run/first-run-page.tsx';
import { OverviewPage } from './pages/overview/overview-page.tsx';
import { useNotifications } from './notifications.ts';
import { useTab } from './tab.ts';
import { hrefOf, leaveBy, type Route, useRoute } from './parts/route.ts';

type Page = ComponentType<{ readonly route: Route }>;

/** Pages by the first part of the path. */
const PAGES: Readonly<Record<string, Page>> = {
  '': OverviewPage,
  start: FirstRunPage,
  restore: later(async () => (await import('./pages/later-pages.ts')).RestorePage),
  jobs: later(async () => (await import('./pages/later-pages.ts')).JobsPage),
  alarms: later(async () => (await import('./pages/later-pages.ts')).AlarmsPage),
  settings: later(async () => (await import('./pages/later-pages.ts')).SettingsPage),
};

export interface AppFacts {
  readonly onLanguage: (wanted: Language) => void;
  readonly onSignOut: () => void;
}

export function App({ onLanguage, onSignOut }: AppFacts): JSX.Element {
  const route = useRoute();
  const overview = useAskedOverview();
  useTab(overview.data, overview.problem);
  useNotifications(overview.data);
  const [name = ''] = route.path;
  const main = useRef<HTMLElement>(null);
  const address = route.path.join('/');
  const shownBefore = useRef(address);
  useEffect(() => {
    if (shownBefore.current === address) return;
    shownBefore.current = address;
    // A new page starts at its title, for sighted users and for screen readers.
    scrollTo(0, 0);
    main.current?.querySelector('h1')?.focus({ preventScroll: true });
  }, [address]);
  const signOut = useAction(async () => {
    await endSession();
    onSignOut();
  });
  const Page = PAGES[name];
  const entries = [
    ['', t.app.overview],
    ['restore', t.app.restore],
    ['jobs', t.app.jobs],
    ['settings', t.app.settings],
  ] as const;
  return (
    <OverviewProvider value={overview}>
      <button class="skip" type="button" onClick={() => main.current?.querySelector('h1')?.focus()}>
        {t.app.skip}
      </button>
      <Top
        home={hrefOf([])}
        label={t.app.navigation}
        navigation={entries.map(([path, label]) => ({
          label,
          href: hrefOf(path === '' ? [] : [path]),
          isCurrent: name === path,
        }))}
      >
        <Languages onLanguage={onLanguage} />
        <Button
          type="button"
          look="plain"
          disabled={signOut.isBusy}
          onClick={() => leaveBy(() => void signOut.run())}
        >
          {t.app.signOut}
        </Button>
      </Top>
      <main ref={main}>
        <Problem error={signOut.problem} />
        {overview.data === undefined ? (
          <Waiting problem={overview.problem} />
        ) : (
          <>
            {/* The overview says so itself, in place of its headline. */}
            {Page === OverviewPage && isOffline(overview.problem) ? null : (
              <Problem error={overview.problem} />
            )}
            <Banners page={name} />
            {Page === undefined ? <NoPage /> : <Page route={route} />}
          </>
        )}
      </main>
      <footer class="foot">
        Holdfast {overview.data?.version} · <a href="/docs">{t.app.api}</a>
      </footer>
    </OverviewProvider>
  );
}

/** Ends the session. A session that has already ended is no error; any other refusal leaves it as it is and is shown. */
async function endSession(): Promise<void> {
  try {
    await ask('DELETE', '/session');
  } catch (error) {
    if (!(error instanceof AskError && error.status === 401)) throw error;
  }
}

function isOffline(problem: AskError | undefined): boolean {
  return problem?.code === 'OFFLINE';
}

function Waiting({
  problem,
}: {
  readonly problem: ReturnType<typeof useAskedOverview>['problem'];
}): JSX.Element {
  return problem === undefined ? <p class="quiet">{t.common.loading}</p> : <Problem error={problem} />;
}

function NoPage(): JSX.Element {
  return (
    <>
      <PageHead title={t.app.noSuchPage} />
      <p>
        <a href={hrefOf([])}>{t.app.toOverview}</a>
      </p>
    </>
  );
}

function Languages({ onLanguage }: Pick<AppFacts, 'onLanguage'>): JSX.Element {
  return (
    <select
      class="language"
      aria-label={t.app.language}
      value={language}
      onChange={({ currentTarget }) => onLanguage(currentTarget.value as Language)}
    >
      {Object.entries(LANGUAGES).map(([code, { name }]) => (
        <option key={code} value={code} lang={code}>
          {name}
        </option>
      ))}
    </select>
  );
}
