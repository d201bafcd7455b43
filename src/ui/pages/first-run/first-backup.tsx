/** Step 4: the settings are written, and the first backup is followed until it is complete. */
import type { JSX } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import type { AnyJob } from '../../../api/schemas/page/jobs.ts';
import type { Overview, OverviewSource } from '../../../api/schemas/page/overview.ts';
import { ask, AskError } from '../../agent/ask.ts';
import { useActiveJobs, useOverview, useOverviewAgain } from '../../agent/overview.ts';
import { useAction } from '../../agent/use-asked.ts';
import { Actions, Button } from '../../components/button.tsx';
import { Card } from '../../components/card.tsx';
import { Path } from '../../components/own-text.tsx';
import { Problem } from '../../components/problem.tsx';
import { Facts } from '../../components/table.tsx';
import { Notice, Tag } from '../../components/tag.tsx';
import { t } from '../../language/language.ts';
import { askedOfRows, backUp, type Refusal, Refusals } from '../../parts/back-up.tsx';
import { JobProgress } from '../../parts/job-progress.tsx';
import { hrefOf } from '../../parts/route.ts';
import { ChecksCard } from '../overview/checks-card.tsx';
import { Said } from '../overview/headline.tsx';
import { backupsOf, type FirstPlan, notBegun, outermost, type Settings, settingsWith } from './first-plan.ts';
import { StepHead } from './step-head.tsx';

export interface FirstBackupFacts {
  readonly plan: FirstPlan;
  /** The destination as shown to the user. */
  readonly placeShown: string | undefined;
  /** Once it was started there is no way back. */
  readonly isStarted: boolean;
  readonly onStarted: () => void;
  readonly onBack: () => void;
}

export function FirstBackup({
  plan,
  placeShown,
  isStarted,
  onStarted,
  onBack,
}: FirstBackupFacts): JSX.Element {
  const again = useOverviewAgain();
  const paths = outermost(plan.chosen);
  const [refusals, setRefusals] = useState<readonly Refusal[]>([]);
  const start = useAction(async () => {
    setRefusals([]);
    const wanted = backupsOf(await save(plan), paths);
    const { active } = await ask<Overview>('GET', '/overview');
    const missing = notBegun(wanted, active);
    const begun = await backUp(missing);
    setRefusals(begun.refusals);
    // If no backup was started, there is nothing to follow.
    if (begun.backups > 0 || missing.length < wanted.length) onStarted();
    again();
  });
  const texts = t.firstRun.run;
  if (isStarted) return <Followed paths={paths} refusals={refusals} />;
  return (
    <Card label={texts.title}>
      <StepHead step="run" title={texts.title} lead={texts.lead} />
      <Facts
        rows={[
          [
            texts.protects,
            <ul class="plain-list" key="paths">
              {paths.map((path) => (
                <li key={path}>
                  <Path>{path}</Path>
                </li>
              ))}
            </ul>,
          ],
          [texts.to, placeShown === undefined ? texts.here : <Path key="place">{placeShown}</Path>],
          [texts.when, texts.whenText],
        ]}
      />
      <div role="status">{start.isBusy ? <p class="quiet">{texts.saving}</p> : null}</div>
      <Problem error={start.problem} />
      <Refusals of={refusals} />
      <Actions>
        <Button type="button" look="main-action" disabled={start.isBusy} onClick={() => void start.run()}>
          {texts.start}
        </Button>
        <Button type="button" disabled={start.isBusy} onClick={onBack}>
          {t.common.back}
        </Button>
      </Actions>
    </Card>
  );
}

/**
 * Attempts to write the settings. Somebody else may change them at the same moment, and the plan can be added to any
 * settings.
 */
const ATTEMPTS = 3;

/** Adds the plan to the settings and returns them. */
async function save(plan: FirstPlan): Promise<Settings> {
  for (let attempt = 1; ; attempt += 1) {
    const { revision, settings } = await ask<{ revision: string; settings: Settings }>('GET', '/settings');
    const wanted = settingsWith(settings, plan);
    try {
      await ask('PUT', '/settings', { ifMatch: revision, body: { settings: wanted } });
      return wanted;
    } catch (error) {
      const isChanged = error instanceof AskError && error.code === 'REVISION_MISMATCH';
      if (!isChanged || attempt === ATTEMPTS) throw error;
    }
  }
}

function Followed({
  paths,
  refusals,
}: {
  readonly paths: readonly string[];
  readonly refusals: readonly Refusal[];
}): JSX.Element {
  const { sources, recent, recovery_kit: kit, headline } = useOverview();
  const jobs = useActiveJobs();
  const outcomes = outcomesOf(paths, { sources, jobs, recent, refusals });
  const isDone = outcomes.every(({ state }) => state === 'done');
  const isStuck = outcomes.some(({ state }) => state === 'failed') && outcomes.every(isSettled);
  const isKitLeft = kit === 'unsaved';
  const texts = t.firstRun.run;
  // The button that started the backup is gone, so the focus moves to the title.
  useEffect(() => {
    document.querySelector<HTMLElement>('main h1')?.focus();
  }, []);
  return (
    <Card label={texts.title} className={isDone ? `first-done ${headline.level}` : 'first-runs'}>
      <StepHead
        step="run"
        title={isDone ? <Said statement={headline} /> : texts.title}
        isDone={isDone && headline.level === 'good'}
      />
      <p role="status">{isDone ? texts.ok : isStuck ? texts.stuck : texts.under}</p>
      {isDone ? <ChecksCard /> : null}
      {isDone ? null : (
        <ul class="divided">
          {outcomes.map((outcome) => (
            <li key={outcome.path}>
              <Outcome {...outcome} />
            </li>
          ))}
        </ul>
      )}
      {isDone && isKitLeft ? (
        <Notice look="warning">
          <p>{texts.kitLeft}</p>
          <a href={hrefOf(['start', 'kit'])}>{texts.kitNow}</a>
        </Notice>
      ) : null}
      <Actions>
        <a class={isDone ? 'button main-action' : 'button'} href={hrefOf([])}>
          {texts.toOverview}
        </a>
        {isStuck ? (
          <a class="button" href={hrefOf(['settings', 'destinations'])}>
            {texts.otherPlace}
          </a>
        ) : null}
        {isDone ? (
          <>
            <a class="button" href={hrefOf(['restore'])}>
              {texts.toRestore}
            </a>
            <a class="button" href={hrefOf(['settings', 'destinations'])}>
              {texts.toDestinations}
            </a>
          </>
        ) : null}
      </Actions>
    </Card>
  );
}

function isSettled({ state }: SourceOutcome): boolean {
  return state === 'failed' || state === 'done';
}

function Outcome(outcome: SourceOutcome): JSX.Element {
  const { path, state, job } = outcome;
  if (state === 'active' && job !== undefined) return <JobProgress job={job} />;
  if (state === 'failed') return <Failed {...outcome} />;
  return (
    <p>
      <Path>{path}</Path>{' '}
      {state === 'done' ? <Tag look="good">{t.firstRun.run.done}</Tag> : <Tag>{t.firstRun.run.waits}</Tag>}
    </p>
  );
}

function Failed({ path, job, refused }: SourceOutcome): JSX.Element {
  const { sources } = useOverview();
  const again = useOverviewAgain();
  const [isSent, setSent] = useState(false);
  const retry = useAction(async () => {
    const rows = sources.filter((source) => source.path === path);
    const { refusals } = await backUp(rows.length === 0 ? [{ path, destinations: [] }] : askedOfRows(rows));
    if (refusals[0] !== undefined) throw refusals[0].error;
    setSent(true);
    again();
  });
  const error = job === undefined ? refused : errorOf(job);
  const texts = t.firstRun.run;
  return (
    <>
      <p>
        <Path>{path}</Path> <Tag look="bad">{texts.failed}</Tag>
      </p>
      <Problem error={retry.problem ?? error} />
      <Actions>
        <Button type="button" disabled={retry.isBusy || isSent} onClick={() => void retry.run()}>
          {texts.again}
        </Button>
        {job === undefined ? null : (
          <a class="button" href={hrefOf(['jobs', job.id])}>
            {texts.why}
          </a>
        )}
      </Actions>
    </>
  );
}

function errorOf({ error }: AnyJob): AskError | undefined {
  return error === null ? undefined : new AskError(error.code, 0, error.message, error.details);
}

interface SourceOutcome {
  readonly path: string;
  readonly state: 'waits' | 'active' | 'failed' | 'done';
  /** The job that is under way or has failed. */
  readonly job: AnyJob | undefined;
  /** Why there is no job. */
  readonly refused: AskError | undefined;
}

export interface Known {
  readonly sources: readonly OverviewSource[];
  /** Running and waiting jobs. */
  readonly jobs: readonly AnyJob[];
  /** Jobs that ended, the newest first. */
  readonly recent: readonly AnyJob[];
  readonly refusals: readonly Refusal[];
}

/** Finds out how far the first backup of each source is. */
export function outcomesOf(paths: readonly string[], known: Known): readonly SourceOutcome[] {
  return paths.map((path) => outcomeOf(path, known));
}

function outcomeOf(path: string, { sources, jobs, recent, refusals }: Known): SourceOutcome {
  const rows = sources.filter((source) => source.path === path);
  const isGood = rows.length > 0 && rows.every(({ last_good_backup_at: last }) => last !== null);
  const none = { path, job: undefined, refused: undefined };
  if (isGood) return { ...none, state: 'done' };
  const isOf = (job: AnyJob): boolean => job.type === 'backup' && job.source === path;
  const job = jobs.find(isOf);
  if (job !== undefined) return { ...none, state: 'active', job };
  const last = recent.find(isOf);
  const isOver = last !== undefined && (last.status === 'failed' || last.status === 'canceled');
  if (isOver) return { ...none, state: 'failed', job: last };
  const refused = refusals.find((refusal) => refusal.path === path)?.error;
  return { ...none, state: refused === undefined ? 'waits' : 'failed', refused };
}
