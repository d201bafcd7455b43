/** What an agent stands on: its directory, settings and state, and the places that it stores in. */
import { homedir } from 'node:os';
import { isAbort } from '../base/errors.ts';
import { createServerLogger, setLevel } from '../base/log.ts';
import { openConfigSource, type ConfigSource } from '../config/config-source.ts';
import { uploadLimitAt } from '../jobs/bandwidth.ts';
import { openAgentState } from '../jobs/open-state.ts';
import type { DaemonOptions } from './daemon-options.ts';
import { PlacedJobs } from './health/placed-jobs.ts';
import { OpenedPlaces } from './jobs/opened-places.ts';
import { createDestinations } from './places/destinations.ts';
import { agentSecrets, learningSecrets } from './places/withheld.ts';
import { SETTINGS_CHECKS } from './settings-checks.ts';
import { takeRunDirectory } from './state/run-directory.ts';

export type Foundation = Awaited<ReturnType<typeof layFoundation>>;

/** @throws {StateError} {ConfigError} */
export async function layFoundation(options: DaemonOptions, stack: AsyncDisposableStack) {
  const { stateDirectory, clock, log, environment, redactor } = options;
  const run = stack.use(await takeRunDirectory(stateDirectory));
  const trouble = (error: unknown): void => {
    if (!isAbort(error)) log.error({ err: error }, 'something failed');
  };
  const config = stack.use(
    await openConfigSource({
      file: options.configFile,
      required: options.configRequired,
      context: { home: homedir(), stateDirectory, ...SETTINGS_CHECKS },
      clock,
      report: trouble,
    }),
  );
  const settings = (): ConfigSource['current'] => config.current;
  const apiLog = createServerLogger(log);
  setLevel(log, apiLog, settings().log.level);
  const state = openAgentState(stateDirectory, clock);
  stack.defer(() => state.close());
  for (const finding of state.findings) log.warn(finding);
  const { context: secrets, childVariables, withhold } = agentSecrets(options);
  withhold(settings());
  const uploadLimit = (): number | null =>
    uploadLimitAt(settings().bandwidth, clock.now(), settings().timeZone);
  const { repositories, settings: notes, jobs } = state.database;
  const { machineKey } = options;
  const parts = { settings, repositories, notes, stateDirectory, secrets, machineKey, uploadLimit, clock };
  const destinations = learningSecrets(createDestinations(parts), redactor);
  const placed = new PlacedJobs(notes, clock);
  return {
    ...options,
    run,
    trouble,
    config,
    settings,
    apiLog,
    state,
    database: state.database,
    /** What is noted beside the jobs, each under a name of its own. */
    notes,
    secrets,
    /** For the processes that the agent starts. */
    childVariables,
    withhold,
    uploadLimit,
    destinations,
    /** Which place each job has opened. */
    opened: new OpenedPlaces(),
    placed,
    /** Those that count for where the destinations lie now. */
    jobs: placed.of(jobs),
    /** Tests spare themselves the cost of guessing. */
    weakCost: environment['HOLDFAST_TEST_KDF'] !== undefined,
    /** Where no source reaches, and no watcher: what the agent writes to itself. */
    never: (): readonly string[] => [stateDirectory, ...destinations.stores()],
  };
}
