/** Shows whether the user is protected, and by what. */
import type { JSX } from 'preact';
import { useEffect } from 'preact/hooks';
import { holdfast, shellWord } from '../../agent/program.ts';
import type { Headline, Overview } from '../../../api/schemas/page/overview.ts';
import { useActiveJobs, useIsUnanswered, useOverview } from '../../agent/overview.ts';
import { Card, PageHead } from '../../components/card.tsx';
import { Command } from '../../components/command.tsx';
import { formatAge, formatTime } from '../../language/format.ts';
import { t } from '../../language/language.ts';
import { goTo, hrefOf, type Route } from '../../parts/route.ts';
import { isFresh, wasLeft } from './first-time.ts';
import { ChecksCard } from './checks-card.tsx';
import { DestinationsCard } from './destinations-card.tsx';
import { bySource, nextRun } from './figures.ts';
import { moreOf, Said } from './headline.tsx';
import { holdingsOf } from './holdings.ts';
import { OverviewActions } from './overview-actions.tsx';
import { SourcesCard } from './sources-card.tsx';
import { TimelineCard } from './timeline-card.tsx';
import { JobProgress } from '../../parts/job-progress.tsx';

export function OverviewPage({ route: _route }: { readonly route: Route }): JSX.Element {
  const overview = useOverview();
  const { sources } = overview;
  const isUnanswered = useIsUnanswered();
  const leadsAway = isFresh(overview) && !wasLeft();
  useEffect(() => {
    if (leadsAway) goTo(hrefOf(['start']), 'replace');
  }, [leadsAway]);
  return (
    <div class="overview">
      {isUnanswered ? <Unanswered time={overview.time} /> : <Head overview={overview} />}
      <ChecksCard />
      <ActiveCard />
      <TimelineCard />
      {sources.length === 0 ? <NothingChosen overview={overview} /> : <SourcesCard />}
      {isFresh(overview) ? null : <DestinationsCard />}
      <Command lines={commands(overview)} />
    </div>
  );
}

function Head({ overview }: { readonly overview: Overview }): JSX.Element {
  const { headline, sources } = overview;
  const more = moreOf(headline);
  return (
    <div class={`headline ${headline.level}`}>
      <PageHead
        title={
          <>
            <LevelIcon level={headline.level} />
            <span>
              <Said statement={headline} />
              {more === undefined ? null : <small> {more}</small>}
            </span>
          </>
        }
        actions={sources.length === 0 ? undefined : <OverviewActions />}
      >
        {[outlookOf(overview), holdingsOf(overview)].filter(Boolean).join(' ')}
      </PageHead>
    </div>
  );
}

function Unanswered({ time }: Pick<Overview, 'time'>): JSX.Element {
  const { title, what } = t.overview.unanswered;
  return (
    <div class="headline warning">
      <PageHead
        title={
          <>
            <LevelIcon level="warning" />
            <span>{title}</span>
          </>
        }
      >
        {what(formatTime(time))}
      </PageHead>
    </div>
  );
}

interface OutlookFacts extends Pick<Overview, 'sources' | 'pause'> {
  readonly active: readonly Pick<Overview['active'][number], 'type' | 'status'>[];
}

/** What happens next automatically; undefined while backups are paused or one waits. */
export function outlookOf({ sources, pause, active }: OutlookFacts): string | undefined {
  const next = nextRun(sources);
  // A backup that waits is the next one, and says itself what it waits for.
  const waits = active.some(({ type, status }) => type === 'backup' && status === 'queued');
  if (pause !== null || next === undefined || waits) return undefined;
  const due =
    new Date(next).getTime() <= Date.now() ? t.overview.nextDue : t.overview.nextRun(formatAge(next));
  return sources.every(({ watching }) => watching) ? `${due} ${t.overview.watched}` : due;
}

function NothingChosen({ overview }: { readonly overview: Overview }): JSX.Element {
  const isNew = isFresh(overview);
  return (
    <Card title={isNew ? t.overview.emptyTitle : t.overview.noSourceTitle} className="invitation">
      <p>{isNew ? t.overview.empty : t.overview.noSource}</p>
      <p>
        <a class="button main-action" href={hrefOf(['start'])}>
          {t.overview.emptyStart}
        </a>
      </p>
    </Card>
  );
}

function commands({ sources }: Overview): readonly string[] {
  const paths = bySource(sources).map(({ path }) => path);
  return [
    holdfast`status`,
    ...paths.slice(0, 3).map((path) => holdfast`backup ${shellWord(path)}`),
    holdfast`pause --for 1h`,
    holdfast`jobs`,
  ];
}

/** The state as a shape, next to the words for it. */
const SHAPES: Readonly<Record<Headline['level'], string>> = {
  good: 'M16 2 28 6v9c0 7.5-5 12.6-12 15C9 27.6 4 22.5 4 15V6zm-1.6 19.6 8.6-9-2.2-2-6.4 6.8-3.3-3.3-2.1 2.1z',
  warning: 'M16 3 31 29H1zm-1.5 9v9h3v-9zm0 11v3h3v-3z',
  bad: 'M10 2h12l8 8v12l-8 8H10l-8-8V10zm4.5 6v10h3V8zm0 12v3.5h3V20z',
};

function LevelIcon({ level }: { readonly level: Headline['level'] }): JSX.Element {
  return (
    <svg class="level-icon" viewBox="0 0 32 32" width="36" height="36" aria-hidden="true" focusable="false">
      <path fill-rule="evenodd" d={SHAPES[level]} />
    </svg>
  );
}

/** Running and waiting jobs with their current progress. */
function ActiveCard(): JSX.Element | null {
  const jobs = useActiveJobs();
  if (jobs.length === 0) return null;
  return (
    <Card
      title={jobs.every(({ status }) => status === 'queued') ? t.jobs.states.queued : t.overview.activeTitle}
    >
      <ul class="divided">
        {jobs.map((job) => (
          <li key={job.id}>
            <JobProgress job={job} />
          </li>
        ))}
      </ul>
    </Card>
  );
}
