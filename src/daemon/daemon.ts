/** The agent, put together from its parts, run, and taken apart in reverse. */
import { hostname } from 'node:os';
import { homedir } from 'node:os';
import { sourceOf } from './sources/configured-source.ts';
import { pageAddressOf } from './page/address.ts';
import { pageInsight } from './page/insight.ts';
import { pageSettings } from './page/settings.ts';
import { createApiServer, type ApiServer } from '../api/server.ts';
import { createServerLogger, setLevel } from '../base/log.ts';
import { isAbort } from '../base/errors.ts';
import { redactDeep } from '../base/redact.ts';
import { openConfigSource, type ConfigSource } from '../config/config-source.ts';
import type { PageAddress } from '../control/calls.ts';
import { serveControl } from '../control/server.ts';
import { uploadLimitAt } from '../jobs/bandwidth.ts';
import { linuxCircumstances } from '../jobs/circumstances.ts';
import { createEngineProcesses } from '../jobs/engine-process.ts';
import { createJobBook } from '../jobs/job-book.ts';
import { openAgentState } from '../jobs/open-state.ts';
import { Runner } from '../jobs/runner.ts';
import { createMetrics } from '../notify/metrics.ts';
import { Scheduler } from '../schedule/scheduler.ts';
import { tellAbsences } from './health/absence-watch.ts';
import { followers, keepOutcome, keepRepository, tellOfJob } from './jobs/after-job.ts';
import { Alarms } from './alarms/alarm-book.ts';
import { tellOpenAlarms, tellRaised } from './alarms/alarm-reminder.ts';
import { Backups, firstBackup } from './jobs/backups.ts';
import { Catalogs } from './snapshots/catalogs.ts';
import { controlHandlers } from './control-handlers.ts';
import type { Daemon, DaemonOptions } from './daemon-options.ts';
import { createDestinations } from './places/destinations.ts';
import { DrillRecords } from './snapshots/drill-records.ts';
import { keepHouse } from './housekeeping.ts';
import { JobEnds } from './jobs/job-ends.ts';
import { placesOf } from './jobs/job-places.ts';
import { createLocalAgent } from './local-agent.ts';
import { figuresNow, targetsOf } from './health/metric-targets.ts';
import { OpenedPlaces } from './jobs/opened-places.ts';
import { openMembership } from './partner-membership.ts';
import { noticeChecks, openNotifier, replaceSenders, toldIn, waitingIn } from './alarms/notices.ts';
import { bringBackBackups } from './jobs/past-backups.ts';
import { PlacedJobs } from './health/placed-jobs.ts';
import { createPageProtect } from './page/protect.ts';
import { planOf, seedOf, zoneOf, type PlannedJob } from './jobs/planning.ts';
import { prepareJob } from './jobs/prepare-job.ts';
import { readingWhenNeeded } from './snapshots/reading-when-needed.ts';
import { takeRunDirectory } from './state/run-directory.ts';
import { agentSecrets, learningSecrets } from './places/withheld.ts';
import { SETTINGS_CHECKS } from './settings-checks.ts';
import { Spools } from './jobs/spools.ts';
import { StateWriting } from './state/writing.ts';
import type { StatusParts } from './health/status.ts';
import { stillFailing } from './health/still-failing.ts';
import { surroundingsOf } from './health/surroundings.ts';
import { storedBytesOf } from './places/stored-bytes.ts';
import { readersOf } from './sources/watch-readers.ts';
import { Watching } from './sources/watching.ts';
import { whyItWaits } from './jobs/why-it-waits.ts';
import { listenAsChosen } from './usual-port.ts';
import { bootOfMachine } from '../system/boot.ts';
import { engineCount, isSmallMachine } from '../system/machine-memory.ts';

/** @throws {StateError} {ConfigError} when it cannot begin */
export async function startDaemon(options: DaemonOptions): Promise<Daemon> {
  const { stateDirectory, clock, log, environment, version, redactor } = options;
  const { redact } = redactor;
  await using stack = new AsyncDisposableStack();
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
  const destinations = learningSecrets(
    createDestinations({
      settings,
      repositories: state.database.repositories,
      notes: state.database.settings,
      stateDirectory,
      secrets,
      machineKey: options.machineKey,
      uploadLimit,
      clock,
    }),
    redactor,
  );
  const opened = new OpenedPlaces();
  const placed = new PlacedJobs(state.database.settings, clock);
  const jobs = placed.of(state.database.jobs);
  const metrics = createMetrics({ clock, version });
  const told = toldIn(state.database.settings, trouble);
  const waiting = waitingIn(state.database.settings, trouble);
  const notifier = openNotifier(config, secrets, clock, log, redact, told, waiting);
  stack.defer(async () => await notifier.close());
  const weakCost = environment['HOLDFAST_TEST_KDF'] !== undefined;
  const catalogs = stack.use(
    new Catalogs({
      clock,
      stateDirectory,
      destinations,
      repositories: state.database.repositories,
      weakCost,
      trouble,
      claimed: (claims) => tellRaised(alarms.judgeClaims(claims, hostname()), { notifier, clock }),
    }),
  );
  const reading = stack.use(readingWhenNeeded({ clock, stateDirectory, destinations, weakCost }));
  if (state.lost) await bringBackBackups({ state, destinations, reading, clock, log });
  const warm = isSmallMachine() ? { warmMs: 0 } : {};
  const engines = createEngineProcesses({ clock, environment: childVariables, times: warm });
  stack.defer(async () => await engines.close());
  /** Keys of what is due and was told of as not begun. */
  const unbegun = new Set<string>();
  const writing = new StateWriting({
    stateDirectory,
    settings: state.database.settings,
    notifier,
    clock,
    mended: () => {
      ends.makeUp();
      backups.makeUp();
      unbegun.clear();
    },
  });
  const book = writing.watched(createJobBook(state, clock, redact));
  const alarms = new Alarms(state.database.settings, book, clock);
  const drills = new DrillRecords(state.database.settings, clock);
  const notes = state.database.settings;
  const surroundings = surroundingsOf({ ...options, settings, jobs, notes, alarms, destinations, trouble });
  const never = (): readonly string[] => [stateDirectory, ...destinations.stores()];

  const watching = stack.use(
    new Watching({
      clock,
      never,
      readers: (sources) => readersOf(sources, destinations),
      changed: (source) => backups.changed(source),
      whole: (jobId, text) => book.log(jobId, 'info', text),
      note: (source, text) => log.warn({ source }, text),
      problem: (source, error) => log.warn({ source, err: error }, error.message),
    }),
  );
  const backups = new Backups({
    runner: () => runner,
    destinations,
    settings,
    jobs,
    watching,
    now: () => clock.now(),
    trouble,
  });
  const spools = stack.use(new Spools({ stateDirectory, jobs: state.database.jobs, trouble }));
  const circumstances = options.circumstances ?? linuxCircumstances(clock);
  const runner: Runner = new Runner({
    boot: () => bootOfMachine(clock.now()),
    book,
    settings: state.database.settings,
    launcher: engines,
    mostAtOnce: engineCount(),
    clock,
    environment: childVariables,
    placesOf: (spec) => placesOf(destinations, spec),
    waitingReason: async (job, part) =>
      await whyItWaits(job, part, { membership, settings, destinations, circumstances, clock }),
    prepare: async (job, part, signal) =>
      await prepareJob(
        job,
        part,
        { destinations, opened, settings, watching, alarms, stateDirectory, never },
        signal,
      ),
    hooksOf: ({ spec }) => (spec.type === 'backup' ? (sourceOf(settings(), spec)?.hooks ?? null) : null),
    hookRuns: (job) => watching.commandRuns(job),
    uploadLimit,
    judged: surroundings.judged,
    completed: (job, outcome) => {
      watching.completed(job, outcome);
      keepOutcome(job, outcome, { destinations, opened, state, clock });
    },
    opened: (job, repositoryId) => keepRepository(job, repositoryId, { destinations, opened, clock }),
    began: (job) => tellOfJob(job, { database: state.database, notifier, clock, stillFailing: () => [] }),
    tried: (jobId, trial) => drills.record(jobId, trial),
    heldUp: (job, waitsFor) => log.info({ job }, waitsFor),
    keepEnd: (job, outcome) => ends.keep(job, outcome),
    endDelayed: (job) => ends.delayed(job),
    ended: (job) => ends.ended(job),
    trouble,
  });
  stack.defer(async () => await runner.close());
  const membership = stack.use(
    await openMembership({ ...options, settings, state, destinations, backups, runner }),
  );

  const ends = new JobEnds({
    database: state.database,
    alarms,
    notifier,
    clock,
    stillFailing: (job) =>
      stillFailing(job, { settings, jobs, notes, alarms, destinations, now: () => clock.now() }),
    others: [
      ...followers({ watching, spools, membership, metrics, destinations, opened, catalogs, settings }),
      // Its destination is there now, if it was not before.
      surroundings.look,
    ],
    trouble,
  });

  const schedules = state.database.schedules;
  let plan: ReadonlyMap<string, PlannedJob> = new Map();
  const scheduler: Scheduler = stack.use(
    new Scheduler({
      clock,
      store: { get: (key) => schedules.get(key), put: (key, value) => schedules.set(key, value) },
      seed: seedOf(state.database.settings),
      due: (key, dueAt, caughtUp) => {
        const planned = plan.get(key);
        if (planned !== undefined) backups.due(planned, caughtUp ? dueAt : null);
        unbegun.delete(key);
      },
      onError: (key, error) => {
        // It is offered again each minute, for as long as it takes.
        if (!unbegun.has(key)) log.error({ key, err: error }, 'a scheduled run could not be begun');
        unbegun.add(key);
        writing.failed(error);
      },
    }),
  );
  const follow = (): void => {
    placed.follow(destinations.all());
    surroundings.follow();
    const planned = planOf(settings());
    plan = new Map(planned.map((one) => [one.entry.key, one]));
    scheduler.replace(
      planned.map(({ entry }) => entry),
      zoneOf(settings()),
    );
    watching.follow(settings().sources);
    backups.dropOld();
    backups.beginNew();
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
      withhold(settings());
      setLevel(log, apiLog, settings().log.level);
      log.info('the configuration was read again');
      follow();
      replaceSenders(notifier, config, secrets, clock);
    }),
  );

  const startedAt = clock.monotonic();
  const status: StatusParts = {
    now: () => clock.now(),
    uptime: () => clock.monotonic() - startedAt,
    version,
    jobs,
    settings,
    config: () => ({ ...redactDeep(config.state, redact), file: options.configFile }),
    pause: () => runner.pausedUntil,
    scheduler,
    watching,
    destinations,
    storedBytes: (name) => storedBytesOf(state.database.settings, name)?.bytes,
    ...surroundings.facts,
    findings: () => [
      ...[writing, alarms, watching, membership, catalogs].flatMap((part) => part.checks()),
      ...noticeChecks(notifier),
    ],
  };
  const agent = createLocalAgent({
    runner,
    book,
    jobs: state.database.jobs,
    jobLog: state.database.jobLog,
    settings,
    stateDirectory,
    destinations,
    catalogs,
    reading,
    status,
    drills,
    backups,
  });
  const known = { config, secrets, destinations, catalogs, alarms, membership, agent };
  const pageProtect = stack.use(
    createPageProtect({
      ...options,
      config,
      store: state.database.settings,
      destinations,
      agent,
      secrets,
      childVariables,
      never,
      weakCost,
      trouble,
    }),
  );
  const api: ApiServer = stack.use(
    await createApiServer({
      agent,
      pageProtect,
      state: state.database,
      clock,
      settings,
      settingsFile: config,
      partnerPlan: () => membership.plan(),
      stateDirectory,
      stores: () => destinations.stores(),
      version,
      pageInsight: pageInsight({ ...status, ...options, ...known, state, uploadLimit }),
      logger: apiLog,
      redact,
      pageSettings: pageSettings({ ...options, ...known, notifier, addresses: () => addresses }),
      metrics: async () => await figuresNow(metrics, { destinations, jobs }),
    }),
  );
  const port = { typed: options.port, set: settings().listen.port };
  const listening = await listenAsChosen(port, async (one) => await api.listen(one));
  const addresses = listening.hosts.map((host) => `http://${host}`);
  const pageAddress = (user: number | null): PageAddress => pageAddressOf(api, addresses[0] ?? '', user);
  for (const note of listening.notes) log.info(note);
  stack.use(
    await serveControl(
      run.path,
      controlHandlers({
        agent,
        alarms,
        credentials: api.credentials,
        webdav: api.webdav,
        destinations,
        membership,
        pageAddress,
        facts: { pid: process.pid, version, addresses },
      }),
      trouble,
    ),
  );
  await run.announce({ addresses, version });
  follow();
  runner.start();
  scheduler.start();
  membership.start();
  catalogs.updateAll();
  stack.use(
    keepHouse({
      state,
      catalogs,
      clock,
      looks: [() => writing.look(), () => backups.makeUp(), surroundings.look],
      reminders: [
        () => ends.makeUp(),
        () => tellAbsences({ settings, state: { ...state.database, jobs }, notifier, clock }),
        () => tellOpenAlarms({ alarms, settings: state.database.settings, notifier, clock }),
      ],
      returnMemory: options.returnMemory,
      trouble,
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
