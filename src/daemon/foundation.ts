/** The base of an agent: its directory, settings, state and destinations. */
import { homedir } from 'node:os';
import { isAbort } from '../base/errors.ts';
import { createServerLogger, setLevel } from '../base/log.ts';
import { openConfigSource, type ConfigSource } from '../config/config-source.ts';
import { uploadLimitAt } from '../jobs/conditions.ts';
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
    /** Notes other than jobs, each under a name of its own. */
    notes,
    secrets,
    /** Environment of the processes that the agent starts. */
    childVariables,
    withhold,
    uploadLimit,
    destinations,
    /** The place that each running job has opened. */
    opened: new OpenedPlaces(),
    placed,
    /** Jobs, where `newest` leaves out those from before a destination moved. */
    jobs: placed.of(jobs),
    /** Tests avoid the cost of stretching passphrases. */
    weakCost: environment['HOLDFAST_TEST_KDF'] !== undefined,
    /** The agent's own files, which are neither backed up nor watched. */
    never: (): readonly string[] => [stateDirectory, ...destinations.stores()],
  };
}
