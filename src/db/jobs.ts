/** Jobs and their problems. What is searched for has columns; the rest of a job is one JSON text. */
import type { JobPageRequest } from '../jobs/agent.ts';
import type { Job, JobProblem, JobStatus } from '../jobs/job.ts';
import { relaxed, type Database, type Statement } from './database.ts';
import { createRuns, type Run, type RunsOf } from './runs.ts';

/** What the queue remembers of a job beside what people see. */
export interface JobBookkeeping {
  /** Engine processes that died in a row without having stored anything new. */
  readonly deaths: number;
  /** Bytes newly stored in this attempt. */
  readonly stored: number;
  /** Milliseconds that earlier attempts ran. */
  readonly ranMs: number;
  /** Failures in a row that waiting may cure. */
  readonly retries: number;
  /** Not before this time. */
  readonly retryAt: number | null;
  readonly failingSince: number | null;
  readonly cancelRequested: boolean;
  /** What ties it to the same backup to other destinations; null: nothing does. */
  readonly pass: string | null;
  /** Of a pass, and it was found that nothing can be copied from the others: it reads the source itself. */
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

/** `job.problems` is empty here: problems are read with `JobStore.get`. */
export interface JobRecord {
  readonly job: Job;
  readonly bookkeeping: JobBookkeeping;
}

export const MOST_PROBLEMS = 1_000;
/** Finished jobs that are kept beside the last of each kind, and milliseconds. */
const KEPT_JOBS = 20_000;
const KEPT_MS = 400 * 86_400_000;
/** Kinds of jobs the last of which are kept: far more than anybody has, but a program may name a new source each time. */
const KEPT_KINDS = 4_000;
/** Milliseconds that their problems and logs are. */
const KEPT_DETAIL_MS = 90 * 86_400_000;
/** And how many of them: a source with files that cannot be read says so at each backup, every few minutes. */
const KEPT_DETAILS = 200_000;

export type NewestFilter = Omit<JobPageRequest, 'limit'> & {
  /** Milliseconds since 1970: begun then or later, or not begun yet. */
  readonly begunSince?: number;
  /** Any of them, in place of `status`. */
  readonly statuses?: readonly JobStatus[];
  /** Codes of errors: of those that failed, only these. */
  readonly failedBy?: readonly string[];
  /** Of backups, those alone that say how their source stands: see `isWhole`. */
  readonly whole?: true;
  /** Of those that have completed, not the ones that could read nothing either: see `isGood`. */
  readonly good?: true;
};

export interface JobStore {
  insert(record: JobRecord): void;
  update(record: JobRecord): void;
  /** As `update`, but a power cut may undo it: for progress. */
  updateProgress(record: JobRecord): void;
  addProblem(id: string, problem: JobProblem): void;
  clearProblems(id: string): void;
  get(id: string): Job | undefined;
  record(id: string): JobRecord | undefined;
  /** In the order of their coming. */
  records(status: JobStatus): readonly JobRecord[];
  /** All of one pass, in the order of their coming. */
  ofPass(pass: string): readonly JobRecord[];
  /** All, in the order of their coming, one at a time. */
  all(): Iterable<JobRecord>;
  count(status: JobStatus): number;
  /** Puts them in the order of their creation, after earlier ones were brought back. */
  reorder(): void;
  /** Newest first, without problems. */
  page(request: JobPageRequest): readonly Job[];
  /** The newest job for which this holds, without dry runs: status, type and source are those of `filter`. */
  newest(filter: NewestFilter): Job | undefined;
  /** The last that ended, the newest first, without problems. */
  lastEnded(limit: number): readonly Job[];
  /** How the last ones of a kind ended, the oldest first. */
  runs(kind: RunsOf): readonly Run[];
  /**
   * Forgets finished jobs that are old, or too many, and sooner what went wrong in them and what they said. The last good
   * one of each kind and the last one that failed for each reason stay: how a source or a destination stands goes by them,
   * however seldom one runs.
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

/** Answers that are kept in memory: a few for each source at each of its destinations; fewer would be none, for they are asked in turn. */
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
const HAS_READ = "(detail->>'$.files_done' > 0 OR detail->>'$.result' IS NOT 'warning')";

/** The last failures of each cause: that one could not reach its destination does not end the damage that another found. */
const LAST_OF_KINDS = `SELECT max(seq) AS seq FROM jobs WHERE status IN ('completed', 'failed') AND ${NO_DRY_RUN}
  GROUP BY type, source, destination, status, ${WHOLE}, ${HAS_READ},
    iif(status = 'failed', detail->>'$.error.code', NULL) ORDER BY 1 DESC LIMIT ?`;

const COLUMNS = 'id, type, status, created_at, finished_at, detail, bookkeeping';

/** `keptDetails`: problems, and lines of logs, that are kept. */
export function createJobStore(db: Database, keptDetails = KEPT_DETAILS): JobStore {
  const sql = statementsOf(db);
  const newest = new Map<string, { readonly filter: NewestFilter; readonly job: Job | undefined }>();
  const counts = new Map<JobStatus, number>();
  const runs = createRuns(db);
  /** The status is asked for far more often than a job ends: answers hold until one is written that may be among them. */
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
  /** By their text: there is one for each set of filters. */
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
      // A line of the journal may be older than passes.
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
    ofPass: (pass) => sql.byPass.all(pass).map(fromRow),
    *all() {
      // One query for each: nothing else could use the connection while a result is being read.
      for (let row = sql.next.get(0); row !== undefined; row = sql.next.get(row.seq)) yield fromRow(row);
    },
    reorder: db.transaction(() => {
      forgetAll();
      db.exec(REORDER);
    }),
    count(status) {
      const answer = counts.get(status) ?? sql.count.get(status) ?? 0;
      // What a transaction has written may be undone.
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
  // Of whole jobs, so that no list says less than there was.
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
  const { types, status, statuses, failedBy, whole, good, source, destination } = request;
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
    ...(withDryRuns ? [] : [NO_DRY_RUN]),
  ];
  const where = all.length === 0 ? '' : `WHERE ${all.join(' AND ')}`;
  return {
    text: `SELECT ${COLUMNS} FROM jobs ${where} ORDER BY seq DESC LIMIT ?`,
    values: [...used.map(({ value }) => value), request.limit],
  };
}

const ENDS: ReadonlySet<JobStatus> = new Set(['completed', 'failed', 'canceled']);

/** Whether a job that was just written may be the answer, or was the answer before. What has ended stays as it ended. */
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
