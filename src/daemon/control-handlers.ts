/** The handlers behind the requests of the local socket. */
import type { Credentials } from '../api/access/credentials.ts';
import type { Webdav } from '../api/webdav/webdav.ts';
import { RequestError } from '../base/errors.ts';
import { holdfast } from '../base/holdfast-command.ts';
import type { ControlHandlers, PageAddress, RunningAgent } from '../control/calls.ts';
import type { Agent } from '../jobs/agent.ts';
import type { Job } from '../jobs/job.ts';
import type { Membership } from '../enrollment/membership.ts';
import { type ByCommandParts, noteDone } from './jobs/by-command.ts';
import type { Alarms } from './alarms/alarm-book.ts';
import { destinationViews } from './places/reachability.ts';
import type { LostState } from './state/lost-state.ts';

export interface ControlParts extends ByCommandParts {
  readonly agent: Agent;
  readonly alarms: Alarms;
  readonly lostState: Pick<LostState, 'acknowledge'>;
  readonly credentials: Credentials;
  readonly webdav: Webdav;
  readonly membership: Pick<Membership, 'enroll' | 'status' | 'leave'>;
  /** Makes an address of the agent's own page, with a one-time code. */
  readonly pageAddress: (user: number | null) => PageAddress;
  readonly facts: RunningAgent;
}

export function controlHandlers(parts: ControlParts): ControlHandlers {
  const { agent, alarms, credentials, webdav, membership, facts } = parts;
  const jobOf = (id: string): Job => {
    const job = agent.job(id);
    if (job !== undefined) return job;
    throw new RequestError('NOT_FOUND', `There is no job ${id}`, {
      hint: `List them with: ${holdfast`jobs`}`,
    });
  };
  const viewOf = (apiKey: string) => {
    const found = credentials.list().find((one) => one.api_key === apiKey);
    return { created_at: found?.created_at ?? 0, last_used_at: found?.last_used_at ?? null };
  };
  return {
    agent: async () => await Promise.resolve(facts),
    status: async () => await agent.fullStatus(),
    backup: async ({ source, destination, options }) =>
      await agent.requestBackup({ source, destination: destination ?? undefined, options }, 'cli'),
    check: async (request) => await agent.submit({ type: 'check', ...request }, 'cli'),
    done_by_command: async (done) => await Promise.resolve(noteDone(done, parts)),
    prune: async (request) => await agent.submit({ type: 'prune', ...request, apply_retention: true }, 'cli'),
    drill: async (request) => await agent.submit({ type: 'drill', ...request }, 'cli'),
    job: async ({ id, wait_ms: ms }, signal) =>
      ms > 0 ? await agent.waitFor(jobOf(id).id, ms, signal) : jobOf(id),
    jobs: async ({ types, status, limit }) =>
      await Promise.resolve(agent.jobs({ types: types ?? undefined, status: status ?? undefined, limit })),
    log: async ({ id }) => await Promise.resolve(agent.log(jobOf(id).id)),
    cancel: async ({ id }) => await agent.cancel(id),
    pause: async ({ until, interrupt }) => {
      await agent.pause(until, interrupt);
      return null;
    },
    resume: async () => {
      await agent.resume();
      return null;
    },
    destinations: async () => await destinationViews(parts),
    snapshots: async ({ limit }) => await agent.snapshots({ limit }),
    alarms: async () => await Promise.resolve(alarms.open()),
    acknowledge: async () => {
      parts.lostState.acknowledge();
      return await Promise.resolve(alarms.acknowledge());
    },
    webdav: async () => await Promise.resolve(webdav.status()),
    turn_on_webdav: async () => await Promise.resolve(webdav.turnOn()),
    turn_off_webdav: async () => {
      webdav.turnOff();
      return await Promise.resolve(webdav.status());
    },
    open_page: async ({ user }) => await Promise.resolve(parts.pageAddress(user)),
    credentials: async () =>
      await Promise.resolve(credentials.list().filter(({ revoked_at: revoked }) => revoked === null)),
    create_credential: async ({ name }) => {
      const made = credentials.create(name);
      return await Promise.resolve({ ...made, ...viewOf(made.api_key) });
    },
    rotate_credential: async ({ api_key: key }) => {
      const made = credentials.rotate(key);
      return await Promise.resolve({ ...made, ...viewOf(made.api_key) });
    },
    enroll: async (wish, signal) => await membership.enroll(wish, signal),
    enrollment: async () => await Promise.resolve(membership.status()),
    end_enrollment: async () => await membership.leave(),
    revoke_credential: async ({ api_key: key }) => {
      credentials.revoke(key);
      return await Promise.resolve(null);
    },
  };
}
