/** The state database: one connection, and one store for each group of tables. */
import { existsSync, renameSync } from 'node:fs';
import type { Clock } from '../base/clock.ts';
import { causeText } from '../base/errno-words.ts';
import { StateError } from '../base/errors.ts';
import { createCredentialStore, type Credential, type CredentialStore } from './credentials.ts';
import {
  cannotOpen,
  damage,
  type Database,
  isBrokenSchema,
  isDamage,
  isFailedQuery,
  isHeld,
  openDatabase,
  relaxed,
  waitNoLonger,
} from './database.ts';
import type { DurableRecord } from './durable.ts';
import { createEventStore, type EventStore } from './events.ts';
import { createIdempotencyStore, type IdempotencyStore } from './idempotency.ts';
import { createJobDays, type JobDays } from './job-days.ts';
import { createJobLogStore, createPreviewStore, type JobLogStore, type PreviewStore } from './job-log.ts';
import { createJobStore, type JobStore } from './jobs.ts';
import { migrate, MIGRATIONS } from './migrate.ts';
import { createPartnerReportStore, type PartnerReportStore } from './partner-reports.ts';
import { createRateLog, type RateLog } from './rate-log.ts';
import { createRepositoryStore, type RepositoryStore } from './repositories.ts';
import { createScheduleStore, type ScheduleStore } from './schedules.ts';
import { createSettingStore, type SettingStore } from './settings.ts';
import { createStoredAmountStore, type StoredAmountStore } from './stored-amounts.ts';

/** Longer than any window of a rate limit. */
const LONGEST_WINDOW_MS = 2 * 3_600_000;

export interface StateDatabase {
  readonly path: string;
  /** Path to which a damaged database was moved; null when there was none. */
  readonly setAside: string | null;
  /** Whether the database was made just now. */
  readonly fresh: boolean;
  readonly jobs: JobStore;
  readonly jobDays: JobDays;
  readonly jobLog: JobLogStore;
  readonly events: EventStore;
  readonly schedules: ScheduleStore;
  readonly credentials: CredentialStore;
  readonly rateLog: RateLog;
  readonly idempotency: IdempotencyStore;
  readonly settings: SettingStore;
  readonly repositories: RepositoryStore;
  readonly partnerReports: PartnerReportStore;
  readonly previews: PreviewStore;
  readonly storedAmounts: StoredAmountStore;
  /** All of it or nothing. */
  transaction<T>(work: () => T): T;
  /** All of it or nothing; a power cut may undo it. */
  relaxed<T>(work: () => T): T;
  /** Calls `listener` with every durable record except jobs, inside the transaction that stores it: a throw undoes it. */
  onDurable(listener: (record: DurableRecord) => void): void;
  /** All durable records except jobs. */
  durable(): Iterable<DurableRecord>;
  /** Stores a durable record again. */
  restore(record: Exclude<DurableRecord, { readonly kind: 'job' }>): void;
  /** Forgets what has been kept long enough. To be called periodically. */
  prune(): void;
  /** Frees up to 16 MB of cached pages until the next query. */
  rest(): void;
  close(): void;
}

/**
 * Opens the state database at `path`. A damaged one is set aside and replaced by an empty one.
 * @throws {StateError} STATE_NOT_PRIVATE, NEWER_STATE, MIGRATION_FAILED, READ_ERROR
 */
export function openStateDatabase(
  path: string,
  clock: Clock,
  migrations: readonly string[] = MIGRATIONS,
): StateDatabase {
  try {
    return openStores(path, clock, migrations, null);
  } catch (error) {
    if (!isDamage(error) && !isBrokenSchema(error)) throw error;
    return openStores(path, clock, migrations, moveAside(path, clock.now()));
  }
}

function openStores(
  path: string,
  clock: Clock,
  migrations: readonly string[],
  setAside: string | null,
): StateDatabase {
  const database = openDatabase(path, { alone: true });
  try {
    const fresh = isFresh(database);
    migrate(database, path, migrations);
    requireReadable(database);
    const stores = storesOf(database, path, { setAside, fresh }, clock);
    waitNoLonger(database);
    return stores;
  } catch (error) {
    database.close();
    throw isHeld(error) ? cannotOpen(path, error) : error;
  }
}

/** Without a version there should be no tables either. If there are, the version itself is damaged. */
function isFresh(database: Database): boolean {
  if (database.pragma('user_version', { simple: true }) !== 0) return false;
  const tables = database.prepare<[], number>('SELECT count(*) FROM sqlite_schema').pluck().get();
  if (tables !== 0) throw damage('tables without a version');
  return true;
}

/**
 * Moves the log and its index together with the file: the log of one database replayed into another would damage that one, too.
 */
function moveAside(path: string, nowMs: number): string {
  const stamp = new Date(nowMs).toISOString().replaceAll(/[:.]/g, '-');
  let aside = `${path}.damaged-${stamp}`;
  for (let again = 2; existsSync(aside); again += 1) aside = `${path}.damaged-${stamp}-${again}`;
  try {
    // The log comes first: after a crash in between it must not lie next to a new database.
    for (const end of ['-wal', '-shm', '']) {
      if (existsSync(`${path}${end}`)) renameSync(`${path}${end}`, `${aside}${end}`);
    }
    return aside;
  } catch (cause) {
    throw new StateError(
      'WRITE_ERROR',
      `The damaged state database ${path} cannot be set aside: ${causeText(cause)}`,
      { hint: 'Move it away by hand; it is rebuilt from the journal.', cause },
    );
  }
}

function storesOf(
  database: Database,
  path: string,
  { setAside, fresh }: Pick<StateDatabase, 'setAside' | 'fresh'>,
  clock: Clock,
): StateDatabase {
  let listener: (record: DurableRecord) => void = () => undefined;
  const jobs = createJobStore(database);
  const events = createEventStore(database);
  const rateLog = createRateLog(database, clock.now());
  const idempotency = createIdempotencyStore(database);
  const credentials = createCredentialStore(database, (credential) => listener(credentialRecord(credential)));
  const settings = createSettingStore(database, (key, value) => listener({ kind: 'setting', key, value }));
  const repositories = createRepositoryStore(database, (known) => listener({ kind: 'repository', ...known }));
  const partnerReports = createPartnerReportStore(database, settings);
  const storedAmounts = createStoredAmountStore(database);

  idempotency.forgetRunning();
  return {
    path,
    setAside,
    fresh,
    jobs,
    jobDays: createJobDays(database, clock),
    jobLog: createJobLogStore(database),
    events,
    schedules: createScheduleStore(database),
    credentials,
    rateLog,
    idempotency,
    settings,
    repositories,
    partnerReports,
    previews: createPreviewStore(database),
    storedAmounts,
    transaction: (work) => database.transaction(work)(),
    relaxed: (work) => relaxed(database, () => database.transaction(work)()),
    onDurable(next) {
      listener = next;
    },
    *durable() {
      for (const credential of credentials.list()) yield credentialRecord(credential);
      for (const known of repositories.all()) yield { kind: 'repository', ...known };
      for (const [key, value] of settings.all()) yield { kind: 'setting', key, value };
    },
    restore(record) {
      switch (record.kind) {
        case 'credential': {
          const { kind: _kind, secretHash, ...more } = record;
          const known = credentials.find(record.apiKey);
          // A credential that was revoked or replaced stays so.
          if (known !== undefined && (known.revokedAt !== null || known.generation > record.generation))
            return;
          const lastUsedAt = known?.lastUsedAt ?? null;
          credentials.restore({ ...more, secretHash: Buffer.from(secretHash, 'base64'), lastUsedAt });
          return;
        }
        case 'repository':
          repositories.set(record);
          return;
        case 'setting':
          settings.set(record.key, record.value ?? undefined);
      }
    },
    prune() {
      const nowMs = clock.now();
      events.prune(nowMs);
      idempotency.prune(nowMs);
      rateLog.prune(LONGEST_WINDOW_MS, nowMs);
      jobs.prune(nowMs);
      partnerReports.prune(nowMs);
      storedAmounts.prune(nowMs);
    },
    rest() {
      database.pragma('shrink_memory');
    },
    close() {
      try {
        rateLog.flush();
      } catch (error) {
        // Reserved places then count as used when the log is opened again.
        if (!isFailedQuery(error)) throw error;
      } finally {
        database.close();
      }
    },
  };
}

function credentialRecord(credential: Credential): DurableRecord {
  const { apiKey, name, secretHash, generation, createdAt, revokedAt } = credential;
  const secret = secretHash.toString('base64');
  return { kind: 'credential', apiKey, name, secretHash: secret, generation, createdAt, revokedAt };
}

/** For damage that SQLite does not detect: changed bytes within a value. */
const STATUSES = ['queued', 'running', 'completed', 'failed', 'canceled'];

/** Finds values that readers could not parse. */
const UNREADABLE = `
  SELECT EXISTS (SELECT 1 FROM jobs WHERE NOT json_valid(detail) OR NOT json_valid(bookkeeping)
                 OR status NOT IN (SELECT value FROM json_each(?)))
      OR EXISTS (SELECT 1 FROM events WHERE NOT json_valid(data))
      OR EXISTS (SELECT 1 FROM idempotency WHERE NOT json_valid(coalesce(headers, '{}')))
      OR EXISTS (SELECT 1 FROM partner_results WHERE NOT json_valid(coalesce(body, '{}')))
      OR EXISTS (SELECT 1 FROM partner_report WHERE NOT json_valid(body))`;

/** @throws an error for which `isDamage` holds */
function requireReadable(database: Database): void {
  const found = database.prepare<[string], number>(UNREADABLE).pluck().get(JSON.stringify(STATUSES));
  if (found !== 0) throw damage('a row holds what nobody wrote');
}
