/** The interfaces of the agent: HTTP on this machine, with the page, and the socket of the command line. */
import { PAGE_LIMITS, type PageSessions } from '../api/access/page-sessions.ts';
import type { Listening } from '../api/connections/listening.ts';
import { type ApiServer, createApiServer } from '../api/server.ts';
import { StateError } from '../base/errors.ts';
import { redactDeep } from '../base/redact.ts';
import type { PageAddress } from '../control/calls.ts';
import { serveControl } from '../control/server.ts';
import type { Agent } from '../jobs/agent.ts';
import { noticeChecks } from './alarms/notices.ts';
import { controlHandlers } from './control-handlers.ts';
import type { Foundation } from './foundation.ts';
import { figuresNow, type StatusParts } from './health/status.ts';
import type { Knowledge } from './knowledge.ts';
import { createLocalAgent } from './local-agent.ts';
import { pageInsight } from './page/insight.ts';
import { createPageProtect } from './page/protect.ts';
import { pageSettings } from './page/settings.ts';
import { storedBytesOf } from './places/stored-bytes.ts';
import type { Schedules } from './schedules.ts';
import type { Work } from './work.ts';

export interface Serving {
  readonly agent: Agent;
  readonly listening: Listening;
  readonly addresses: readonly string[];
  /** Makes an address of the agent's own page, with a one-time code; `user` as in `PageSessions`. */
  readonly pageAddress: (user: number | null) => PageAddress;
}

/** @throws {StateError} {ConfigError} when it cannot listen */
export async function serve(
  foundation: Foundation,
  knowledge: Knowledge,
  work: Work,
  { scheduler }: Schedules,
  stack: AsyncDisposableStack,
): Promise<Serving> {
  const { version, log, run, trouble } = foundation;
  const status = statusParts(foundation, knowledge, work, scheduler);
  const agent = createLocalAgent({
    ...foundation,
    ...knowledge,
    ...work,
    jobs: foundation.database.jobs,
    jobLog: foundation.database.jobLog,
    status,
  });
  /** Filled once it listens. */
  const addresses: string[] = [];
  const api = stack.use(await openApi(foundation, knowledge, work, { agent, status, addresses }, stack));
  const port = { typed: foundation.port, set: foundation.settings().listen.port };
  const listening = await listenAsChosen(port, async (one) => await api.listen(one));
  addresses.push(...listening.hosts.map((host) => `http://${host}`));
  const pageAddress = (user: number | null): PageAddress => pageAddressOf(api, addresses[0] ?? '', user);
  for (const note of listening.notes) log.info(note);
  const handlers = controlHandlers({
    ...foundation,
    ...knowledge,
    ...work,
    agent,
    credentials: api.credentials,
    webdav: api.webdav,
    pageAddress,
    facts: { pid: process.pid, version, addresses },
  });
  stack.use(await serveControl(run.path, handlers, trouble));
  await run.announce({ addresses, version });
  return { agent, listening, addresses, pageAddress };
}

function statusParts(
  foundation: Foundation,
  { writing, lostState, alarms, catalogs, notifier, surroundings }: Knowledge,
  { runner, watching, membership }: Work,
  scheduler: Schedules['scheduler'],
): StatusParts {
  const { clock, version, jobs, settings, config, configFile, destinations, notes, redactor } = foundation;
  const startedAt = clock.monotonic();
  return {
    now: () => clock.now(),
    uptime: () => clock.monotonic() - startedAt,
    version,
    jobs,
    settings,
    config: () => ({ ...redactDeep(config.state, redactor.redact), file: configFile }),
    pause: () => runner.pausedUntil,
    scheduler,
    watching,
    destinations,
    storedBytes: (name) => storedBytesOf(notes, name)?.bytes,
    heldNotices: () => notifier.held(),
    ...surroundings.facts,
    isEmptyExpected: (source) => alarms.isEmptyExpected(source),
    findings: () => [
      ...[writing, lostState, alarms, watching, membership, catalogs].flatMap((part) => part.checks()),
      ...noticeChecks(notifier),
    ],
  };
}

interface ApiParts {
  readonly agent: Agent;
  readonly status: StatusParts;
  readonly addresses: readonly string[];
}

async function openApi(
  foundation: Foundation,
  knowledge: Knowledge,
  { membership }: Work,
  { agent, status, addresses }: ApiParts,
  stack: AsyncDisposableStack,
): Promise<ApiServer> {
  const { config, notes, database, jobs, destinations, apiLog, redactor } = foundation;
  const known = { ...foundation, ...knowledge, membership, agent };
  const pageProtect = stack.use(createPageProtect({ ...known, store: notes }));
  return await createApiServer({
    ...foundation,
    agent,
    pageProtect,
    state: database,
    settingsFile: config,
    partnerPlan: () => membership.plan(),
    stores: () => destinations.stores(),
    pageInsight: pageInsight({ ...status, ...known }),
    logger: apiLog,
    redact: redactor.redact,
    pageSettings: pageSettings({ ...known, addresses: () => addresses }),
    metrics: async () => await figuresNow(knowledge.metrics, { destinations, jobs }),
  });
}

/** The code comes after a `#`: browsers do not send that part to a server, so it is in no log and no referrer. */
function pageAddressOf(
  { sessions }: { readonly sessions: PageSessions },
  base: string,
  user: number | null,
): PageAddress {
  return { address: `${base}/#code=${sessions.newCode(user)}`, seconds: PAGE_LIMITS.codeMs / 1000 };
}

/** The default port, as in the API contract and the documentation. */
const USUAL_PORT = 7390;
/** Number of further ports that are tried. */
const OTHERS = 9;

export interface ChosenPort {
  /** From the command line. */
  readonly typed: number | undefined;
  /** From the settings. The default port counts as not chosen, as it is also there when nobody has set one. */
  readonly set: number;
}

/**
 * Chooses the port when nobody has configured one. Another user's agent may have the default port, which must not keep
 * this one from running. Listens on the chosen port; otherwise on the default port or the next free one, which the
 * notes mention.
 * @throws {StateError} PORT_TAKEN, PORT_NOT_ALLOWED
 */
export async function listenAsChosen(
  { typed, set }: ChosenPort,
  listen: (port: number) => Promise<Listening>,
): Promise<Listening> {
  const chosen = typed ?? set;
  if (typed !== undefined || chosen !== USUAL_PORT) return await listen(chosen);
  for (let port = USUAL_PORT; ; port += 1) {
    try {
      const listening = await listen(port);
      if (port === USUAL_PORT) return listening;
      const note = `Another program, perhaps the agent of somebody else, listens on port ${USUAL_PORT}: this agent listens on ${port}.`;
      return { ...listening, notes: [...listening.notes, note] };
    } catch (error) {
      const isTaken = error instanceof StateError && error.code === 'PORT_TAKEN';
      if (!isTaken || port === USUAL_PORT + OTHERS) throw error;
    }
  }
}
