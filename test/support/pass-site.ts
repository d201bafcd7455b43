/** The real agent with one source that goes to three directories, a run of which can be watched from the outside. */
import { mkdirSync, renameSync } from 'node:fs';
import { join } from 'node:path';
import type { DaemonOptions } from '../../src/daemon/daemon-options.ts';
import type { Job } from '../../src/jobs/job.ts';
import { countOpens, type OpenCounter } from './count-opens.ts';
import { eventually, openDaemonSite, type DaemonSite } from './daemon-site.ts';

export const NAMES = ['a', 'b', 'c'] as const;
export type Name = (typeof NAMES)[number];

export interface PassSite extends AsyncDisposable {
  readonly site: DaemonSite;
  /** Begins the first pass, or another one as the schedule does, and gives its jobs by their destinations. */
  begin(): Promise<Readonly<Record<Name, Job>>>;
  /** Lets the time of the schedule come, at which engines that wait for work have ended. */
  beginInTime(): Promise<Readonly<Record<Name, Job>>>;
  /** Waits for the pass that something else begins, as a change that was watched. */
  next(): Promise<Readonly<Record<Name, Job>>>;
  /** Unplugs a destination, and puts it back. */
  unplug(name: Name): void;
  plug(name: Name): void;
  /** Waits until the job says that its destination is not there. */
  isAway(id: string): Promise<void>;
  /** Of the last attempt at it, as the log of the job has them. */
  facts(id: string): Readonly<Record<string, string>>;
  /** Files of the source that were opened since the last time. */
  opened(): ReadonlyMap<string, number>;
}

/** @param files of the source, each in a directory of its own, which stay the only ones */
export async function openPassSite(
  files: Readonly<Record<string, string | Uint8Array>>,
  more: object = {},
  options: Partial<DaemonOptions> = {},
): Promise<PassSite> {
  const site = await openDaemonSite(options);
  site.write(files);
  const at = (name: string): string => join(site.directory, name);
  for (const name of NAMES) mkdirSync(at(name));
  const destinations = Object.fromEntries(NAMES.map((name) => [name, { url: at(name), passphrase: null }]));
  let opens: OpenCounter | undefined;
  const configure = async (schedule: string): Promise<void> =>
    await site.configure({
      sources: [{ path: site.source, destinations: NAMES, schedule, watch: false, ...more }],
      destinations,
      defaultDestination: 'a',
      maintenance: { jitter: '0s', prune: 'off', check: 'off', drill: 'off' },
    });
  return {
    site,
    async begin() {
      if (opens === undefined) {
        opens = countOpens(site.source);
        await configure('every 4h');
      } else await site.agent.requestBackup({ source: site.source, options: {} }, 'schedule');
      return await eventually(() => newestPass(site), 'a pass');
    },
    async beginInTime() {
      site.clock.skip(4 * 3_600_000);
      return await eventually(() => newestPass(site), 'a pass');
    },
    next: async () => await eventually(() => newestPass(site), 'a pass'),
    unplug: (name) => renameSync(at(name), at(`${name}-unplugged`)),
    plug(name) {
      renameSync(at(`${name}-unplugged`), at(name));
      // The queue looks again every half minute.
      site.clock.skip(30_000);
    },
    async isAway(id) {
      await eventually(
        () => /is not available/.test(site.agent.job(id)?.waiting_for ?? ''),
        `${id} to wait for its destination`,
      );
    },
    facts: (id) =>
      Object.fromEntries(
        site.agent
          .log(id)
          .map(({ text }) => text.split(': '))
          .filter((parts) => parts.length === 2),
      ) as Readonly<Record<string, string>>,
    opened: () => opens?.take() ?? new Map(),
    async [Symbol.asyncDispose]() {
      opens?.[Symbol.dispose]();
      await site[Symbol.asyncDispose]();
    },
  };
}

const seen = new WeakMap<DaemonSite, Set<string>>();

/** Undefined until there is one that was not there before: its first job is always a new one. */
function newestPass(site: DaemonSite): Readonly<Record<Name, Job>> | undefined {
  const known = seen.get(site) ?? new Set<string>();
  seen.set(site, known);
  const jobs = site.jobs('backup');
  const newest = jobs[0];
  if (newest === undefined || known.has(newest.id)) return undefined;
  const of = (name: Name): Job | undefined => jobs.find(({ spec }) => spec.destination === name);
  const [a, b, c] = NAMES.map(of);
  if (a === undefined || b === undefined || c === undefined) return undefined;
  for (const { id } of jobs) known.add(id);
  return { a, b, c };
}
