/** The agent's side of the page's settings: previews, the account, and the data for support. Loaded on first use. */
import { hostname } from 'node:os';
import type { PageSettings } from '../../api/page/settings-area.ts';
import { timestamp } from '../../api/presentation/values.ts';
import { installedVersion } from '../../base/program-version.ts';
import type { Clock } from '../../base/clock.ts';
import type { Redactor } from '../../base/redact.ts';
import type { ConfigSource } from '../../config/config-source.ts';
import type { SecretContext } from '../../config/secret.ts';
import type { Membership } from '../../enrollment/membership.ts';
import type { Agent } from '../../jobs/agent.ts';
import { desktopAccess } from '../../notify/desktop-access.ts';
import type { Notifier } from '../../notify/notifier.ts';
import { nextRuns, parseSchedule } from '../../schedule/schedule.ts';
import type { Alarms } from '../alarms/alarm-book.ts';
import type { Catalogs } from '../snapshots/catalogs.ts';
import type { Newest } from '../doctor/versions.ts';
import type { Destinations } from '../places/destinations.ts';
import { notOpenedByKit } from '../places/other-keys.ts';
import { zoneOf } from '../jobs/planning.ts';
import { retentionRules } from '../jobs/prepare-job.ts';

export interface PageSettingsParts {
  readonly stateDirectory: string;
  readonly configFile: string;
  /** Version of the program. */
  readonly version: string;
  readonly clock: Clock;
  readonly redactor: Redactor;
  readonly config: ConfigSource;
  readonly secrets: SecretContext;
  readonly destinations: Pick<Destinations, 'find' | 'standard'>;
  readonly catalogs: Pick<Catalogs, 'askAt'>;
  readonly alarms: Pick<Alarms, 'freezes'>;
  readonly membership: Pick<Membership, 'status' | 'enroll' | 'leave'>;
  readonly agent: Pick<Agent, 'fullStatus' | 'jobs'>;
  readonly notifier: Pick<Notifier, 'wake'>;
  /** Where the API listens. */
  readonly addresses: () => readonly string[];
}

export function pageSettings(parts: PageSettingsParts): PageSettings {
  const { stateDirectory, configFile, version, clock, redactor, config, membership } = parts;
  return {
    nextRuns: async (schedule, timeZone) => {
      const zone = timeZone ?? zoneOf(config.current);
      return await Promise.resolve(nextRuns(parseSchedule(schedule), clock.now(), zone));
    },
    forgetting: async (retention, destination, limit) => {
      const place =
        destination === undefined || destination === null
          ? parts.destinations.standard()
          : parts.destinations.find(destination);
      const { current } = config;
      const rules = retentionRules({ ...current, retention: retention ?? current.retention }, parts.alarms);
      const found = await parts.catalogs.askAt(place, async (catalog) => {
        return await catalog.forgetting({ rules, nowMs: clock.now(), limit });
      });
      return { destination: place.name, ...(found ?? { kept: 0, removed: 0, items: [] }) };
    },
    testNotice: async (channel, signal) => {
      const { testNotice } = await import('../alarms/notice-test.ts');
      const problem = await testNotice(channel, config.current.notices, parts, signal);
      if (problem !== null) return redactor.redact(problem);
      // Notices that wait for this receiver can be sent at once.
      parts.notifier.wake(channel);
      return null;
    },
    enrollment: {
      status: () => membership.status(),
      enroll: async ({ url, token, name }, signal) =>
        await membership.enroll({ url, token, name: name ?? hostname() }, signal),
      leave: async () => await membership.leave(),
    },
    about: async (signal) => {
      const { error } = config.state;
      const { url } = config.current.updates;
      return {
        version,
        installed_version: installedVersion(version),
        newest_version: url === null ? null : await newestOf(url, signal),
        node: process.versions.node,
        platform: `${process.platform}-${process.arch}`,
        state_directory: stateDirectory,
        config_file: configFile,
        config_error:
          error === null
            ? null
            : {
                message: redactor.redact(error.what ?? error.message),
                line: error.line,
                column: error.column,
              },
        desktop: desktopAccess().state,
        addresses: [...parts.addresses()],
      };
    },
    agentLog: async (wish) => {
      const { agentLogPath, endOfAgentLog } = await import('../state/agent-log-end.ts');
      const entries = await endOfAgentLog(stateDirectory, wish);
      return {
        file: agentLogPath(stateDirectory),
        // Redacted again, as lines may be older than the redactor's knowledge of a secret.
        lines: entries.map(({ at, level, text }) => ({
          at: timestamp(at),
          level,
          text: redactor.redact(text),
        })),
      };
    },
    diagnostics: async () => await diagnosticsOf(parts),
  };
}

async function newestOf(url: string, signal: AbortSignal): Promise<Newest> {
  const { newestVersion } = await import('../doctor/versions.ts');
  return await newestVersion(url, signal);
}

async function diagnosticsOf(
  parts: PageSettingsParts,
): Promise<{ readonly text: string; readonly madeAt: number }> {
  const { stateDirectory, configFile, version, clock, redactor, config, agent } = parts;
  const [{ BUNDLED, diagnosticsText }, { notExamined, examineAgent }, { endOfAgentLog }] = await Promise.all([
    import('../doctor/diagnostics.ts'),
    import('../doctor/examine.ts'),
    import('../state/agent-log-end.ts'),
  ]);
  const destinationDirectory = parts.destinations.standard().directory;
  const notByKit = notOpenedByKit(config.current);
  const madeAt = clock.now();
  const facts = {
    madeBy: 'the agent',
    madeAt,
    version,
    stateDirectory,
    configFile,
    findings: await examineAgent({ stateDirectory, destinationDirectory, notByKit, clock, version }),
    unexamined: notExamined(),
    status: await agent.fullStatus(),
    settings: config.document?.values,
    jobs: agent.jobs({ limit: BUNDLED.jobs }),
    log: await endOfAgentLog(stateDirectory, { lines: BUNDLED.logLines, level: 'debug' }),
  };
  return { text: await diagnosticsText(facts, redactor.redact), madeAt };
}
