/** An agent whose jobs, snapshots and files are what a test puts in: what the API is tested on alone. */
import type { Clock } from '../../src/base/clock.ts';
import { RequestError } from '../../src/base/errors.ts';
import {
  newestFirst,
  type Agent,
  type AgentEvent,
  type FileItem,
  type FileQuery,
  type FileVersion,
  type JobPageRequest,
  type LogLine,
  type SnapshotChange,
  type SnapshotSummary,
} from '../../src/jobs/agent.ts';
import { ID_PREFIX, type Job, type JobSpec, NO_PROGRESS } from '../../src/jobs/job.ts';
import { testAgent } from './api-site.ts';

export interface MemoryAgent extends Agent {
  readonly added: Map<string, Job>;
  /** What was asked of it and is seen in no reply. */
  readonly asked: unknown[];
  readonly lines: LogLine[];
  readonly summaries: SnapshotSummary[];
  readonly items: FileItem[];
  readonly fileVersions: FileVersion[];
  readonly changes: SnapshotChange[];
  readonly contents: Map<string, Uint8Array>;
  /** Paths that no snapshot has; of others it is not known. */
  readonly missing: Set<string>;
  /** Streams that listen. */
  readonly listeners: number;
  add(spec: JobSpec, changes?: Partial<Job>): Job;
  /** Changes a job and tells of it. */
  change(id: string, changes: Partial<Job>): Job;
  tell(event: Omit<AgentEvent, 'id' | 'at'>): AgentEvent;
  /** Forgets everything but the events. */
  clear(): void;
}

export const BACKUP_OPTIONS = {
  compression: 'zstd',
  encryption: true,
  deduplication: true,
  exclude: [],
  tags: [],
  dry_run: false,
} as const;

export function memoryAgent(clock: () => Clock): MemoryAgent {
  const added = new Map<string, Job>();
  const events: AgentEvent[] = [];
  const wakers = new Set<() => void>();
  let made = 0;
  const missing = new Set<string>();
  const state: Pick<
    MemoryAgent,
    'asked' | 'lines' | 'summaries' | 'items' | 'fileVersions' | 'changes' | 'contents'
  > = {
    asked: [],
    lines: [],
    summaries: [],
    items: [],
    fileVersions: [],
    changes: [],
    contents: new Map(),
  };

  function tell(event: Omit<AgentEvent, 'id' | 'at'>): AgentEvent {
    const told = { ...event, id: events.length + 1, at: clock().now() };
    events.push(told);
    for (const wake of wakers) wake();
    return told;
  }

  function add(spec: JobSpec, changes: Partial<Job> = {}): Job {
    made += 1;
    const number = String(made).padStart(26, '0');
    const job: Job = {
      id: `${ID_PREFIX[spec.type]}${number}`,
      type: spec.type,
      status: 'queued',
      phase: null,
      result: null,
      spec,
      trigger: 'api',
      attempt: 1,
      waiting_for: null,
      snapshot_id: null,
      files_done: 0,
      files_skipped: 0,
      size_bytes: 0,
      duration_ms: 0,
      progress: NO_PROGRESS,
      warnings_count: 0,
      problems: [],
      error: null,
      created_at: clock().now(),
      started_at: null,
      finished_at: null,
      ...changes,
    };
    added.set(job.id, job);
    tell({ kind: 'job.created', jobId: job.id, data: {} });
    return job;
  }

  function change(id: string, changes: Partial<Job>): Job {
    const job = { ...requireJob(id), ...changes };
    added.set(id, job);
    const ended = job.status !== 'queued' && job.status !== 'running';
    tell({ kind: ended ? 'job.finished' : 'job.updated', jobId: id, data: { secret: 'not for the stream' } });
    return job;
  }

  function requireJob(id: string): Job {
    const job = added.get(id);
    if (job === undefined) throw new Error(`no job ${id}`);
    return job;
  }

  function requireSnapshot(id: string): SnapshotSummary {
    const found = state.summaries.find((summary) => summary.id === id);
    if (found !== undefined) return found;
    throw new RequestError('SNAPSHOT_NOT_FOUND', `There is no snapshot ${id}`, { hint: 'List them.' });
  }

  async function* listen(
    after: number | undefined,
    jobId: string | undefined,
    signal: AbortSignal,
  ): AsyncGenerator<AgentEvent> {
    let next = after ?? events.length;
    for (;;) {
      while (next < events.length) {
        const event = events[next];
        next += 1;
        if (event !== undefined && (jobId === undefined || event.jobId === jobId)) yield event;
      }
      if (signal.aborted) return;
      await new Promise<void>((resolve) => {
        const wake = (): void => {
          wakers.delete(wake);
          signal.removeEventListener('abort', wake);
          resolve();
        };
        wakers.add(wake);
        signal.addEventListener('abort', wake, { once: true });
      });
    }
  }

  return {
    ...testAgent({ ...idleClock, now: () => clock().now() }),
    ...state,
    added,
    missing,
    get listeners() {
      return wakers.size;
    },
    add,
    change,
    tell,
    clear() {
      added.clear();
      missing.clear();
      const { contents, ...lists } = state;
      contents.clear();
      for (const list of Object.values(lists)) list.length = 0;
    },
    async requestBackup({ source, destination, options }, trigger) {
      state.asked.push({ source, destination, options, trigger });
      if (source.startsWith('/missing')) {
        throw new RequestError('INVALID_SOURCE', `The source path ${source} does not exist`, {
          hint: 'Check the spelling.',
          details: { path: source, reason: 'not_found' },
        });
      }
      return add({
        type: 'backup',
        source,
        destination: destination ?? 'default',
        options: { ...BACKUP_OPTIONS, ...options },
      });
    },
    destinationOf(name = 'default') {
      if (name === 'nowhere')
        throw new RequestError('INVALID_DESTINATION', 'There is no destination nowhere');
      return name === 'file:///disk' ? 'disk' : name;
    },
    async submit(spec) {
      state.asked.push(spec);
      return add(spec);
    },
    job: (id) => added.get(id),
    jobs: (request) => pageOf([...added.values()], request),
    async waitFor(id, ms, signal) {
      state.asked.push({ waited: ms });
      const over = new AbortController();
      signal.addEventListener('abort', () => over.abort(), { once: true });
      const finished = async (): Promise<void> => {
        for await (const event of listen(undefined, id, over.signal)) {
          if (event.kind === 'job.finished') return;
        }
      };
      await Promise.race([finished(), clock().sleep(ms, signal)]);
      over.abort();
      return requireJob(id);
    },
    async cancel(id) {
      const job = requireJob(id);
      if (job.finished_at !== null) {
        throw new RequestError('JOB_NOT_CANCELABLE', `The job has ended: it is ${job.status}`);
      }
      return change(id, { status: 'canceled', finished_at: clock().now() });
    },
    log: () => state.lines,
    pause: async (until, interrupt) => {
      state.asked.push({ until, interrupt });
    },
    resume: async () => {
      state.asked.push('resume');
    },
    events: listen,
    snapshots: async ({ source, destination, limit, behind }) =>
      state.summaries
        .filter((summary) => source === undefined || summary.source === source)
        .filter((summary) => destination === undefined || summary.destination === destination)
        .filter((summary) => behind === undefined || newestFirst(summary, behind) > 0)
        .slice(0, limit),
    newestOf: async (source, until) => {
      const found = state.summaries.find(
        (summary) => summary.source === source && (until === undefined || summary.created_at <= until),
      );
      return found ?? requireSnapshot(`of ${source}`);
    },
    snapshotOfBackup: async (backupId) => {
      const found = state.summaries.find(({ backup_id: id }) => id === backupId);
      return found ?? requireSnapshot(requireJob(backupId).snapshot_id ?? '');
    },
    snapshot: async (id) => requireSnapshot(id === 'latest' ? (state.summaries.at(-1)?.id ?? id) : id),
    entry: async (_snapshot, path) => {
      if (missing.has(path))
        throw new RequestError('PATH_NOT_IN_SNAPSHOT', `${path} is not in the backup`, { hint: 'Look.' });
      throw new RequestError('SERVICE_UNAVAILABLE', 'The files are still being listed');
    },
    forgetSnapshot: async (id) => {
      state.summaries.splice(state.summaries.indexOf(requireSnapshot(id)), 1);
    },
    files: async (query: FileQuery) => {
      state.asked.push(query);
      const begin = Number(query.after ?? 0);
      const end = begin + query.limit;
      return {
        items: state.items.slice(begin, end),
        unreadable: 0,
        next: end < state.items.length ? String(end) : null,
      };
    },
    versions: async (path, source) => {
      state.asked.push({ path, source });
      return state.fileVersions;
    },
    diff: async (id, base, limit, after) => {
      requireSnapshot(id);
      state.asked.push({ id, base });
      const begin = Number(after ?? 0);
      const end = begin + limit;
      return {
        items: state.changes.slice(begin, end),
        unreadable: 0,
        next: end < state.changes.length ? String(end) : null,
      };
    },
    archive: async (snapshot, path) => {
      state.asked.push({ snapshot, path });
      return await Promise.resolve({
        name: path.slice(path.lastIndexOf('/') + 1),
        async *read() {
          yield Buffer.from(`an archive of ${path}`);
        },
      });
    },
    content: async (snapshot, path) => {
      const bytes = state.contents.get(path);
      state.asked.push({ snapshot, path });
      if (bytes === undefined) {
        throw new RequestError('PATH_NOT_IN_SNAPSHOT', 'The snapshot does not contain that path');
      }
      return {
        name: Buffer.from(path.slice(path.lastIndexOf('/') + 1), 'latin1').toString(),
        size: bytes.length,
        async *read(range) {
          const part = bytes.subarray(range?.start ?? 0, range?.end ?? bytes.length);
          for (let begin = 0; begin < part.length; begin += 1000) yield part.subarray(begin, begin + 1000);
        },
      };
    },
  };
}

/** Newest first. */
function pageOf(jobs: readonly Job[], request: JobPageRequest): readonly Job[] {
  const { types, status, source, destination, createdAfter, createdBefore, before, limit } = request;
  return jobs
    .toReversed()
    .filter((job) => types === undefined || types.includes(job.type))
    .filter((job) => status === undefined || job.status === status)
    .filter(({ spec }) => source === undefined || (spec.type === 'backup' && spec.source === source))
    .filter(({ spec }) => destination === undefined || spec.destination === destination)
    .filter((job) => createdAfter === undefined || job.created_at > createdAfter)
    .filter((job) => createdBefore === undefined || job.created_at < createdBefore)
    .filter(
      (job, _index, all) =>
        before === undefined || all.indexOf(job) > all.findIndex(({ id }) => id === before),
    )
    .slice(0, limit);
}

const idleClock: Clock = { now: () => 0, monotonic: () => 0, sleep: async () => undefined };
