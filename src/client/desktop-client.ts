/** The client of an agent's Desktop API. */
import type { DesktopRoutes, Event } from '../../dist/client/desktop-api.d.ts';
import { type Credentials, signedIn } from './access-token.ts';
import { callsOf } from './calls.ts';
import { type ConnectionOptions, connectionTo } from './connection.ts';
import { type Following, follow } from './event-stream.ts';
import { type Job, type WaitOptions, endOf } from './job-end.ts';
import { type Clock, systemClock } from './pauses.ts';
import type { Calls } from './route-types.ts';

export interface DesktopOptions extends Credentials, ConnectionOptions {
  /** Where the agent listens. */
  readonly address?: string | undefined;
}

export interface DesktopClient extends Calls<DesktopRoutes> {
  /**
   * The job once it has completed: of what `post` resolves with, or of its promise. It costs one request an hour, however
   * long the job takes.
   * @throws {HoldfastError} with the code of the job when it failed, or `JOB_CANCELED`
   */
  waitForJob<J extends Job>(job: J | Promise<J>, options?: WaitOptions<J>): Promise<J>;
  /** What happens from now on, or since the event whose `id` is `after`; until the signal. One request an hour. */
  events(options?: Following): AsyncGenerator<Event & { readonly id: string | undefined }, void, undefined>;
}

/** Nothing is asked before the first call. */
export function desktopClient(options: DesktopOptions, clock: Clock = systemClock): DesktopClient {
  const nobody = connectionTo(options.address ?? 'http://127.0.0.1:7390', '/v1', options, clock);
  const connection = { ...nobody, identity: signedIn(options, nobody) };
  return {
    ...callsOf<DesktopRoutes>(connection, (path) => (path === '/files' ? 1_000 : 100)),
    waitForJob: async (job, wait) => await endOf(connection, job, wait),
    async *events(following = {}) {
      for await (const { id, data } of follow(connection, '/events', following))
        yield { ...(JSON.parse(data) as Event), id };
    },
  };
}
