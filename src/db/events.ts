/** Stores events with rising ids, so that a listener that was disconnected can go on where it stopped. */
import type { AgentEvent } from '../jobs/agent.ts';
import type { Database } from './database.ts';

/** Milliseconds for which events are kept, */
export const EVENTS_MS = 7 * 86_400_000;
/** and the most that are kept. */
export const EVENTS_COUNT = 100_000;

export interface NewEvent extends Omit<AgentEvent, 'id'> {
  /** Progress: the next event of the same job replaces it, so that a long job does not displace everything else. */
  readonly passing?: boolean | undefined;
}

export interface EventStore {
  append(event: NewEvent): AgentEvent;
  /** The events after the id `after`, oldest first. */
  after(after: number, jobId: string | undefined, limit: number): readonly AgentEvent[];
  /** The highest id that was ever used; 0 before the first event. */
  latestId(): number;
  /** Continues with ids above `floor`, so that ids of a lost database are not used again. */
  startAbove(floor: number): void;
  prune(nowMs: number): void;
}

interface Row {
  readonly id: number;
  readonly kind: AgentEvent['kind'];
  readonly job_id: string | null;
  readonly at: number;
  readonly data: string;
}

export function createEventStore(db: Database): EventStore {
  const insert = db.prepare<[string, string | null, number, number, string]>(
    'INSERT INTO events (kind, job_id, at, passing, data) VALUES (?, ?, ?, ?, ?)',
  );
  const displace = db.prepare<[string]>('DELETE FROM events WHERE job_id = ? AND passing = 1');
  const select = db.prepare<[number, number], Row>(
    'SELECT id, kind, job_id, at, data FROM events WHERE id > ? ORDER BY id LIMIT ?',
  );
  const selectOfJob = db.prepare<[string, number, number], Row>(
    'SELECT id, kind, job_id, at, data FROM events WHERE job_id = ? AND id > ? ORDER BY id LIMIT ?',
  );
  const latest = db.prepare<[], number>("SELECT seq FROM sqlite_sequence WHERE name = 'events'");
  latest.pluck();
  const raise = db.prepare<[number]>("UPDATE sqlite_sequence SET seq = ? WHERE name = 'events'");
  const begin = db.prepare<[number]>("INSERT INTO sqlite_sequence (name, seq) VALUES ('events', ?)");
  const pruneOld = db.prepare<[number]>('DELETE FROM events WHERE at < ?');
  const pruneMany = db.prepare<[number]>(
    'DELETE FROM events WHERE id <= (SELECT id FROM events ORDER BY id DESC LIMIT 1 OFFSET ?)',
  );

  return {
    append: db.transaction(({ kind, jobId, at, data, passing }: NewEvent): AgentEvent => {
      if (jobId !== null) displace.run(jobId);
      const { lastInsertRowid } = insert.run(kind, jobId, at, passing === true ? 1 : 0, JSON.stringify(data));
      return { id: Number(lastInsertRowid), kind, jobId, at, data };
    }),
    after: (after, jobId, limit) => {
      const rows = jobId === undefined ? select.all(after, limit) : selectOfJob.all(jobId, after, limit);
      return rows.map(fromRow);
    },
    latestId: () => latest.get() ?? 0,
    startAbove: db.transaction((floor: number): void => {
      const current = latest.get();
      if (current === undefined) begin.run(floor);
      else if (current < floor) raise.run(floor);
    }),
    prune: db.transaction((nowMs: number): void => {
      pruneOld.run(nowMs - EVENTS_MS);
      pruneMany.run(EVENTS_COUNT);
    }),
  };
}

function fromRow({ id, kind, job_id, at, data }: Row): AgentEvent {
  return { id, kind, jobId: job_id, at, data: JSON.parse(data) as Record<string, unknown> };
}
