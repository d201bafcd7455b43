/** Runs the schedules and watchers of the settings, and follows changes of the settings. */
import { Scheduler } from '../schedule/scheduler.ts';
import { setLevel } from '../base/log.ts';
import { replaceSenders } from './alarms/notices.ts';
import type { Foundation } from './foundation.ts';
import { targetsOf } from './health/status.ts';
import { planOf, seedOf, zoneOf, type PlannedJob } from './jobs/planning.ts';
import type { Knowledge } from './knowledge.ts';
import { unfitSources, unfitText } from './sources/unfit-sources.ts';
import type { Work } from './work.ts';

export interface Schedules {
  readonly scheduler: Scheduler;
  /** Applies the current settings. */
  readonly follow: () => void;
}

export function openSchedules(
  foundation: Foundation,
  knowledge: Knowledge,
  work: Work,
  stack: AsyncDisposableStack,
): Schedules {
  const { clock, log, config, settings, jobs, destinations, placed, stateDirectory } = foundation;
  const { book, metrics, notifier, surroundings } = knowledge;
  const { backups, watching, runner } = work;
  const { scheduler, planNow } = openScheduler(foundation, knowledge, work, stack);
  const follow = (): void => {
    for (const one of unfitSources({ settings: settings(), stateDirectory })) log.warn(unfitText(one));
    placed.follow(destinations.all());
    surroundings.follow();
    planNow();
    watching.follow(settings().sources);
    backups.dropOld();
    void backups.beginNew();
    metrics.setTargets(
      targetsOf(settings(), jobs),
      settings().destinations.map(({ name }) => name),
    );
    runner.look();
  };
  stack.defer(
    config.onChange(({ settingsChanged, state: { status, error } }) => {
      book.feed.append({ kind: 'config', jobId: null, data: { status, error: error?.message ?? null } });
      if (status === 'degraded') log.warn({ line: error?.line, column: error?.column }, error?.message ?? '');
      if (!settingsChanged) return;
      foundation.withhold(settings());
      setLevel(log, foundation.apiLog, settings().log.level);
      log.info('the configuration was read again');
      follow();
      replaceSenders(notifier, config, foundation.secrets, clock);
    }),
  );
  return { scheduler, follow };
}

function openScheduler(
  { clock, log, settings, notes, database }: Foundation,
  { writing }: Knowledge,
  { backups, watching }: Work,
  stack: AsyncDisposableStack,
): { readonly scheduler: Scheduler; readonly planNow: () => void } {
  let plan: ReadonlyMap<string, PlannedJob> = new Map();
  /** Keys of due runs that could not be begun and were reported. */
  const unbegun = new Set<string>();
  writing.whenMended(() => unbegun.clear());
  const scheduler = stack.use(
    new Scheduler({
      clock,
      store: database.schedules,
      seed: seedOf(notes),
      due: (key, dueAt, caughtUp) => {
        const planned = plan.get(key);
        if (planned !== undefined) backups.due(planned, watching, caughtUp ? dueAt : null);
        unbegun.delete(key);
      },
      onError: (key, error) => {
        // Reported once, as the scheduler offers the run again each minute.
        if (!unbegun.has(key)) log.error({ key, err: error }, 'a scheduled run could not be begun');
        unbegun.add(key);
        writing.failed(error);
      },
    }),
  );
  const planNow = (): void => {
    const planned = planOf(settings());
    plan = new Map(planned.map((one) => [one.entry.key, one]));
    scheduler.replace(
      planned.map(({ entry }) => entry),
      zoneOf(settings()),
    );
  };
  return { scheduler, planNow };
}
