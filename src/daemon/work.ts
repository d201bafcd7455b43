/** The working parts of the agent: jobs in engine processes, begun by people, changes and schedules. */
import { createEngineProcesses } from '../jobs/engine-process.ts';
import { linuxCircumstances } from '../jobs/circumstances.ts';
import { Runner } from '../jobs/runner.ts';
import { bootOfMachine } from '../system/process-identity.ts';
import { engineCount, isSmallMachine } from '../system/machine-memory.ts';
import type { Foundation } from './foundation.ts';
import { stillFailing } from './health/standing.ts';
import { followers } from './jobs/after-job.ts';
import { Backups } from './jobs/backups.ts';
import { createJobHost } from './job-host.ts';
import { JobEnds } from './jobs/job-ends.ts';
import { Spools } from './jobs/spools.ts';
import type { Knowledge } from './knowledge.ts';
import { openMembership } from './partner-membership.ts';
import { readersOf } from './sources/watch-readers.ts';
import { Watching } from './sources/watching.ts';

export type Work = Awaited<ReturnType<typeof openWork>>;

/** No job begins before `runner.start`. */
export async function openWork(foundation: Foundation, knowledge: Knowledge, stack: AsyncDisposableStack) {
  const { clock, log, childVariables, uploadLimit, trouble, database, notes, settings } = foundation;
  const { book, alarms, notifier, writing, surroundings } = knowledge;
  const warm = isSmallMachine() ? { warmMs: 0 } : {};
  const engines = createEngineProcesses({ clock, environment: childVariables, times: warm });
  stack.defer(async () => await engines.close());
  const runner = new Runner({
    book,
    settings: notes,
    launcher: engines,
    mostAtOnce: engineCount(),
    clock,
    boot: () => bootOfMachine(clock.now()),
    environment: childVariables,
    uploadLimit,
    trouble,
  });
  const backups = stack.use(new Backups({ ...foundation, runner }));
  const watching = stack.use(
    new Watching({
      clock,
      never: foundation.never,
      readers: (sources) => readersOf(sources, foundation.destinations),
      changed: (source) => backups.changed(source),
      whole: (jobId, text) => book.log(jobId, 'info', text),
      note: (source, text) => log.warn({ source }, text),
      problem: (source, error) => log.warn({ source, err: error }, error.message),
    }),
  );
  const spools = stack.use(new Spools({ ...foundation, jobs: database.jobs }));
  stack.defer(async () => await runner.close());
  const membership = stack.use(await openMembership({ ...foundation, backups, runner }));
  const ends = new JobEnds({
    database,
    alarms,
    notifier,
    clock,
    stillFailing: (job) =>
      stillFailing(job, {
        ...foundation,
        alarms,
        isEmptyExpected: (source) => alarms.isEmptyExpected(source),
        now: () => clock.now(),
      }),
    others: [
      ...followers({ ...foundation, ...knowledge, watching, spools, membership }),
      // The job's destination may only now have become available.
      surroundings.look,
    ],
    trouble,
  });
  const circumstances = foundation.circumstances ?? linuxCircumstances(clock);
  runner.attach(
    createJobHost({ ...foundation, ...knowledge, watching, membership, ends, circumstances, settings }),
  );
  writing.whenMended(() => {
    ends.makeUp();
    backups.makeUp();
  });
  return { runner, backups, watching, membership, ends };
}
