/** Jobs and their problems. Fields that are searched for have columns; the rest of a job is one JSON text. */
import type { JobPageRequest } from '../jobs/agent.ts';
import type { Job, JobProblem, JobSpec, JobStatus } from '../jobs/job.ts';
import { relaxed, type Database, type Statement } from './database.ts';
import { createRuns, type Run, type RunsOf } from './runs.ts';

/** What the queue remembers of a job in addition to what people see. */
export interface JobBookkeeping {
  /** Engine processes that died in a row without having stored anything new. */
  readonly deaths: number;
  /** Bytes newly stored in this attempt. */
  readonly stored: number;
  /** Milliseconds for which earlier attempts ran. */
  readonly ranMs: number;
  /** Failures in a row that waiting may resolve. */
  readonly retries: number;
  /** The job does not start before this time; milliseconds since 1970, null for at once. */
  readonly retryAt: number | null;
  readonly failingSince: number | null;
  readonly cancelRequested: boolean;
  /** Id of the pass, which joins it with the same backup to other destinations; null when it is in none. */
  readonly pass: string | null;
  /** The job is in a pass, but there was nothing to copy from the others: it reads the source itself. */
  readonly readsItself: boolean;
}

export const NO_BOOKKEEPING: JobBookkeeping = {
  deaths: 0,
  stored: 0,
  ranMs: 0,
  retries: 0,
  retryAt: null,
  failingSince: null,
  cancelRequested: false,
  pass: null,
  readsItself: false,
};

/** `job.problems` is empty here; `JobStore.get` reads problems. */
export interface JobRecord {
  readonly job: Job;
  readonly bookkeeping: JobBookkeeping;
}

const MOST_PROBLEMS = 1_000;
/** Number of finished jobs that are kept, and for how many milliseconds, in addition to the last ones of each kind. */
const KEPT_JOBS = 20_000;
const KEPT_MS = 400 * 86_400_000;
/** Kinds of jobs whose last ones are kept: far more than anybody has, as a program may name a new source each time. */
const KEPT_KINDS = 4_000;
/** Milliseconds for which problems and logs are kept, */
const KEPT_DETAIL_MS = 90 * 86_400_000;
/** and how many are kept: a source with unreadable files reports them at each backup, every few minutes. */
const KEPT_DETAILS = 200_000;

export type NewestFilter = Omit<JobPageRequest, 'limit'> & {
  /** Milliseconds since 1970: only jobs that began at that time or later, or have not begun yet. */
  readonly begunSince?: number;
  /** Any of these, instead of `status`. */
  readonly statuses?: readonly JobStatus[];
  /** Error codes: of failed jobs only those with one of them. */
  readonly failedBy?: readonly string[];
  /** Of backups only those of the whole source: see `isWhole`. */
  readonly whole?: true;
  /** Of completed backups only those that could read something: see `isGood`. */
  readonly good?: true;
  /** Only those with an error: of queued jobs those that are being tried again. */
  readonly hasError?: true;
};

export interface JobStore {
  insert(record: JobRecord): void;
  update(record: JobRecord): void;
  /** Like `update`, but a power cut may undo it: for progress. */
  updateProgress(record: JobRecord): void;
  addProblem(id: string, problem: JobProblem): void;
  clearProblems(id: string): void;
  get(id: string): Job | undefined;
  record(id: string): JobRecord | undefined;
  /** In the order in which they were added. */
  records(status: JobStatus): readonly JobRecord[];
  /** The queued jobs whose specification is of that kind and names the same places, in the order in which they were added. */
  queuedLike(spec: JobSpec): readonly JobRecord[];
  /** The jobs of one pass, in the order in which they were added. */
  ofPass(pass: string): readonly JobRecord[];
  /** All jobs, in the order in which they were added, read one at a time. */
  all(): Iterable<JobRecord>;
  count(status: JobStatus): number;
  /** Renumbers all jobs in the order of their creation, after earlier ones were restored. */
  reorder(): void;
  /** Newest first, without problems. */
  page(request: JobPageRequest): readonly Job[];
  /** The newest job that matches the filter, without dry runs. */
  newest(filter: NewestFilter): Job | undefined;
  /** The jobs that ended last, the newest first, without problems. */
  lastEnded(limit: number): readonly Job[];
  /** The last runs of one kind of job, the oldest first. */
  runs(kind: RunsOf): readonly Run[];
  /**
   * Forgets finished jobs that are old or too many, and their problems and logs earlier. The last good job of each kind
   * and the last failed one for each reason are kept, however long ago they ran, as the state of sources and
   * destinations is derived from them.
   */
  prune(nowMs: number): void;
}

interface Row {
  readonly id: string;
  readonly type: Job['type'];
  readonly status: JobStatus;
  readonly created_at: number;
  readonly finished_at: number | null;
  readonly detail: string;
  readonly bookkeeping: string;
}

/**
 * Cached answers: a few for each source at each of its destinations. A smaller cache would be useless, as they are
 * asked for in turn.
 */
const MOST_REMEMBERED = 50_000;

const REORDER = `
  CREATE TEMP TABLE new_order AS
    SELECT seq AS old, row_number() OVER (ORDER BY created_at, id) AS new FROM jobs;
  -- Numbers are unique, so they all make room first.
  UPDATE jobs SET seq = -seq;
  UPDATE jobs SET seq = (SELECT new FROM new_order WHERE old = -jobs.seq);
  DROP TABLE new_order;`;

const NO_DRY_RUN = "ifnull(detail->>'$.spec.options.dry_run', 0) = 0";

const BEGUN_SINCE = "ifnull(detail->>'$.started_at', iif(status = 'queued', 9e15, 0)) >= ?";

const FAILED_BY = "(status <> 'failed' OR detail->>'$.error.code' IN (SELECT value FROM json_each(?)))";

const WHOLE = "ifnull(json_array_length(detail, '$.spec.options.exclude'), 0) = 0";
const HAS_ERROR = "detail->>'$.error' IS NOT NULL";
const HAS_READ = "(detail->>'$.files_done' > 0 OR detail->>'$.result' IS NOT 'warning')";

/**
 * The last failure for each cause: that one job could not reach its destination does not end the damage that another job found.
 */
const LAST_OF_KINDS = `SELECT max(seq) AS seq FROM jobs WHERE status IN ('completed', 'failed') AND ${NO_DRY_RUN}
  GROUP BY type, source, destination, status, ${WHOLE}, ${HAS_READ},
    iif(status = 'failed', detail->>'$.error.code', NULL) ORDER BY 1 DESC LIMIT ?`;

const COLUMNS = 'id, type, status, created_at, finished_at, detail, bookkeeping';

/** @param keptDetails the most problems, and log lines, that are kept */
export function createJobStore(db: Database, keptDetails = KEPT_DETAILS): JobStore {
  const sql = statementsOf(db);
  const newest = new Map<string, { readonly filter: NewestFilter; readonly job: Job | undefined }>();
  const counts = new Map<JobStatus, number>();
  const runs = createRuns(db);
  /** The status is asked for far more often than a job ends, so an answer is cached until a job is written that may change it. */
  const forget = (job: Job): void => {
    const { type, spec, finished_at: end } = job;
    counts.clear();
    for (const [question, { filter }] of newest) if (mayBe(filter, job)) newest.delete(question);
    if (end !== null) runs.changed({ type, source: sourceOf(spec), destination: spec.destination });
  };
  const forgetAll = (): void => {
    newest.clear();
    counts.clear();
    runs.forget();
  };

  const write = ({ job, bookkeeping }: JobRecord): void => {
    forget(job);
    const [detail, kept] = [detailOf(job), JSON.stringify(bookkeeping)];
    sql.update.run(job.status, job.finished_at, detail, kept, bookkeeping.pass ?? null, job.id);
  };
  /** Prepared statements by text, one for each set of filters. */
  const pages = new Map<string, Statement<(string | number)[], Row>>();
  const page = (request: NewestFilter & JobPageRequest, withDryRuns = true): readonly Job[] => {
    const { text, values } = pageQuery(request, withDryRuns);
    const statement = pages.get(text) ?? db.prepare<(string | number)[], Row>(text);
    pages.set(text, statement);
    return statement.all(...values).map((row) => fromRow(row).job);
  };

  return {
    insert({ job, bookkeeping }) {
      const { id, type, status, spec, created_at, finished_at } = job;
      const source = sourceOf(spec);
      const [detail, kept] = [detailOf(job), JSON.stringify(bookkeeping)];
      forget(job);
      // A journal line may come from a version without passes.
      const pass = bookkeeping.pass ?? null;
      sql.insert.run(id, type, status, source, spec.destination, created_at, finished_at, detail, kept, pass);
    },
    update: write,
    updateProgress: (record) => relaxed(db, () => write(record)),
    addProblem(id, { path, code, message }) {
      relaxed(db, () => sql.addProblem.run(id, path, code, message, id, MOST_PROBLEMS));
    },
    clearProblems(id) {
      sql.clearProblems.run(id);
    },
    get(id) {
      const row = sql.select.get(id);
      return row === undefined ? undefined : { ...fromRow(row).job, problems: sql.problems.all(id) };
    },
    record(id) {
      const row = sql.select.get(id);
      return row === undefined ? undefined : fromRow(row);
    },
    records: (status) => sql.byStatus.all(status).map(fromRow),
    queuedLike(spec) {
      const source = sourceOf(spec);
      const rows =
        source === null
          ? sql.queuedAt.all(spec.type, spec.destination)
          : sql.queuedOf.all(source, spec.type, spec.destination);
      return rows.map(fromRow);
    },
    ofPass: (pass) => sql.byPass.all(pass).map(fromRow),
    *all() {
      // One query for each job, as nothing else could use the connection while a result is being read.
      for (let row = sql.next.get(0); row !== undefined; row = sql.next.get(row.seq)) yield fromRow(row);
    },
    reorder: db.transaction(() => {
      forgetAll();
      db.exec(REORDER);
    }),
    count(status) {
      const answer = counts.get(status) ?? sql.count.get(status) ?? 0;
      // A transaction may be rolled back, so its results are not cached.
      if (!db.inTransaction) counts.set(status, answer);
      return answer;
    },
    page: (request) => page(request),
    newest(filter) {
      const question = JSON.stringify(filter);
      const known = newest.get(question);
      if (known !== undefined) return known.job;
      const [job] = page({ ...filter, limit: 1 }, false);
      if (newest.size >= MOST_REMEMBERED) newest.clear();
      if (!db.inTransaction) newest.set(question, { filter, job });
      return job;
    },
    lastEnded: (limit) => sql.lastEnded.all(limit).map((row) => fromRow(row).job),
    runs: (kind) => runs.of(kind),
    prune(nowMs) {
      forgetAll();
      sql.prune.run(KEPT_KINDS, nowMs - KEPT_MS, KEPT_JOBS);
      for (const statement of sql.pruneDetail) statement.run(nowMs - KEPT_DETAIL_MS);
      for (const statement of sql.pruneDetails) statement.run(keptDetails, KEPT_KINDS);
    },
  };
}

function statementsOf(db: Database) {
  const insert = db.prepare<
    [string, string, string, string | null, string, number, number | null, string, string, string | null]
  >(
    `INSERT INTO jobs (id, type, status, source, destination, created_at, finished_at, detail, bookkeeping, pass)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
  );
  const update = db.prepare<[string, number | null, string, string, string | null, string]>(
    'UPDATE jobs SET status = ?, finished_at = ?, detail = ?, bookkeeping = ?, pass = ? WHERE id = ?',
  );
  const select = db.prepare<[string], Row>(`SELECT ${COLUMNS} FROM jobs WHERE id = ?`);
  const byStatus = db.prepare<[string], Row>(`SELECT ${COLUMNS} FROM jobs WHERE status = ? ORDER BY seq`);
  const queuedOf = db.prepare<[string, string, string], Row>(
    `SELECT ${COLUMNS} FROM jobs WHERE source = ? AND status = 'queued' AND type = ? AND destination = ? ORDER BY seq`,
  );
  const queuedAt = db.prepare<[string, string], Row>(
    `SELECT ${COLUMNS} FROM jobs WHERE status = 'queued' AND type = ? AND destination = ? AND source IS NULL ORDER BY seq`,
  );
  const byPass = db.prepare<[string], Row>(`SELECT ${COLUMNS} FROM jobs WHERE pass = ? ORDER BY seq`);
  const next = db.prepare<[number], Row & { readonly seq: number }>(
    `SELECT seq, ${COLUMNS} FROM jobs WHERE seq > ? ORDER BY seq LIMIT 1`,
  );
  const count = db.prepare<[string], number>('SELECT count(*) FROM jobs WHERE status = ?');
  count.pluck();
  const addProblem = db.prepare<[string, string, string, string, string, number]>(
    `INSERT INTO job_problems (job_id, path, code, message) SELECT ?, ?, ?, ?
     WHERE (SELECT count(*) FROM job_problems WHERE job_id = ?) < ?`,
  );
  const clearProblems = db.prepare<[string]>('DELETE FROM job_problems WHERE job_id = ?');
  const problems = db.prepare<[string], JobProblem>(
    'SELECT path, code, message FROM job_problems WHERE job_id = ? ORDER BY id',
  );
  const prune = db.prepare<[number, number, number]>(
    `WITH kept AS MATERIALIZED (${LAST_OF_KINDS}),
     more AS (SELECT seq, finished_at AS at FROM jobs WHERE finished_at IS NOT NULL AND seq NOT IN (SELECT seq FROM kept))
     DELETE FROM jobs WHERE seq IN (
       SELECT seq FROM more WHERE at < ? OR at <= (SELECT at FROM more ORDER BY at DESC LIMIT 1 OFFSET ?))`,
  );

  const details = ['job_problems', 'job_log'];
  const pruneDetail = details.map((table) =>
    db.prepare<[number]>(`DELETE FROM ${table} WHERE job_id IN (SELECT id FROM jobs WHERE finished_at < ?)`),
  );
  // Removes the problems or log of a whole job, so that no remaining list is incomplete.
  const pruneDetails = details.map((table) =>
    db.prepare<[number, number]>(
      `DELETE FROM ${table} WHERE job_id IN (
         SELECT job_id FROM ${table} WHERE id <= (SELECT id FROM ${table} ORDER BY id DESC LIMIT 1 OFFSET ?))
       AND job_id IN (SELECT id FROM jobs WHERE finished_at IS NOT NULL AND seq NOT IN (${LAST_OF_KINDS}))`,
    ),
  );
  const lastEnded = db.prepare<[number], Row>(
    `SELECT ${COLUMNS} FROM jobs WHERE finished_at IS NOT NULL ORDER BY finished_at DESC LIMIT ?`,
  );
  return {
    insert,
    update,
    select,
    byStatus,
    queuedOf,
    queuedAt,
    byPass,
    next,
    count,
    addProblem,
    clearProblems,
    problems,
    prune,
    pruneDetail,
    pruneDetails,
    lastEnded,
  };
}

function pageQuery(
  request: NewestFilter & JobPageRequest,
  withDryRuns: boolean,
): { text: string; values: (string | number)[] } {
  const { types, status, statuses, failedBy, whole, good, hasError, source, destination } = request;
  const { createdAfter, createdBefore, begunSince, before } = request;
  const clauses: readonly (readonly [string, string | number | undefined])[] = [
    ['type IN (SELECT value FROM json_each(?))', types === undefined ? undefined : JSON.stringify(types)],
    ['status = ?', status],
    [
      'status IN (SELECT value FROM json_each(?))',
      statuses === undefined ? undefined : JSON.stringify(statuses),
    ],
    [FAILED_BY, failedBy === undefined ? undefined : JSON.stringify(failedBy)],
    ['source = ?', source],
    ['destination = ?', destination],
    ['created_at > ?', createdAfter],
    ['created_at < ?', createdBefore],
    [BEGUN_SINCE, begunSince],
    ['seq < (SELECT seq FROM jobs WHERE id = ?)', before],
  ];
  const used = clauses.flatMap(([text, value]) => (value === undefined ? [] : [{ text, value }]));
  const all = [
    ...used.map(({ text }) => text),
    ...(whole === undefined && good === undefined ? [] : [WHOLE]),
    ...(good === undefined ? [] : [HAS_READ]),
    ...(hasError === undefined ? [] : [HAS_ERROR]),
    ...(withDryRuns ? [] : [NO_DRY_RUN]),
  ];
  const where = all.length === 0 ? '' : `WHERE ${all.join(' AND ')}`;
  return {
    text: `SELECT ${COLUMNS} FROM jobs ${where} ORDER BY seq DESC LIMIT ?`,
    values: [...used.map(({ value }) => value), request.limit],
  };
}

const ENDS: ReadonlySet<JobStatus> = new Set(['completed', 'failed', 'canceled']);

/** Whether a job that was just written may be or have been the answer. A job that has ended keeps its status. */
function mayBe({ status, statuses, source, destination }: NewestFilter, job: Job): boolean {
  const wanted = statuses ?? (status === undefined ? undefined : [status]);
  if (wanted?.every((one) => ENDS.has(one)) === true && !wanted.includes(job.status)) return false;
  if (source !== undefined && source !== sourceOf(job.spec)) return false;
  return destination === undefined || destination === job.spec.destination;
}

function sourceOf(spec: Job['spec']): string | null {
  return spec.type === 'backup' ? spec.source : null;
}

type Detail = Omit<Job, 'id' | 'type' | 'status' | 'created_at' | 'finished_at' | 'problems'>;

function detailOf(job: Job): string {
  const { id: _id, type: _type, status: _status, created_at: _created, ...more } = job;
  const { finished_at: _finished, problems: _problems, ...detail } = more;
  return JSON.stringify(detail satisfies Detail);
}

function fromRow({ id, type, status, created_at, finished_at, detail, bookkeeping }: Row): JobRecord {
  const kept = JSON.parse(detail) as Detail;
  return {
    job: { ...kept, id, type, status, created_at, finished_at, problems: [] },
    bookkeeping: { ...NO_BOOKKEEPING, ...(JSON.parse(bookkeeping) as Partial<JobBookkeeping>) },
  };
}
