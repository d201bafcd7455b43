/**
 * Builds the agent from its parts, each of which knows only those before it, and starts it. Disposing takes it apart in reverse.
 */
import { tellAbsences } from './health/absence-watch.ts';
import { GoneWatch } from './health/gone-watch.ts';
import { tellOpenAlarms } from './alarms/alarm-reminder.ts';
import type { Daemon, DaemonOptions } from './daemon-options.ts';
import { layFoundation } from './foundation.ts';
import { keepHouse } from './housekeeping.ts';
import { firstBackup } from './jobs/backups.ts';
import { openKnowledge } from './knowledge.ts';
import { openSchedules } from './schedules.ts';
import { serve } from './serving.ts';
import { openWork } from './work.ts';

/** Milliseconds in which backups that were missed begin. */
const START_MS = 120_000;

/** @throws {StateError} {ConfigError} when it cannot start */
export async function startDaemon(options: DaemonOptions): Promise<Daemon> {
  await using stack = new AsyncDisposableStack();
  const foundation = await layFoundation(options, stack);
  const knowledge = await openKnowledge(foundation, stack);
  const work = await openWork(foundation, knowledge, stack);
  const schedules = openSchedules(foundation, knowledge, work, stack);
  const { agent, listening, addresses, pageAddress } = await serve(
    foundation,
    knowledge,
    work,
    schedules,
    stack,
  );

  schedules.follow();
  work.runner.start();
  schedules.scheduler.start();
  work.membership.start();
  knowledge.catalogs.updateAll();
  const { config, settings, database, jobs, log, notes, clock } = foundation;
  const { notifier, surroundings, writing } = knowledge;
  const { ends, backups } = work;
  const gone = new GoneWatch({ ...knowledge, clock, status: async () => await agent.fullStatus() });
  let isStart = true;
  stack.use(
    keepHouse({
      ...foundation,
      ...knowledge,
      looks: [
        () => writing.look(),
        () => backups.makeUp(),
        surroundings.look,
        async () => await gone.look(),
        () => notifier.look(),
      ],
      reminders: [
        () => ends.makeUp(),
        () => tellOpenAlarms({ ...foundation, ...knowledge, settings: notes }),
        async (signal) => {
          // After a time switched off, the backups that were missed begin now, and end it.
          if (isStart) await clock.sleep(START_MS, signal);
          isStart = false;
          const status = async () => await agent.fullStatus();
          await tellAbsences({ ...foundation, ...knowledge, state: { ...database, jobs }, status }, signal);
        },
      ],
    }),
  );
  const firstJobs = await Promise.all(
    options.now.map(async (source) => await firstBackup(agent, settings(), source)),
  );
  log.info({ addresses }, 'the agent is ready');
  const parts = stack.move();
  return {
    agent,
    listening,
    config,
    pageAddress,
    firstJobs,
    [Symbol.asyncDispose]: async () => await parts.disposeAsync(),
  };
}
