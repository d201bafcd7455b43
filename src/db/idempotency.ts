/** Stores the answers to requests with an `Idempotency-Key`, so that a repeated request has no second effect. */
import type { Database } from './database.ts';

/** Milliseconds for which an answer is kept. */
export const IDEMPOTENCY_MS = 86_400_000;

/** A key is valid for one caller and one route. */
export interface IdempotencyKey {
  readonly key: string;
  /** Method and path, such as `POST /backup`. */
  readonly route: string;
  /** Id of the credential. */
  readonly caller: string;
}

export interface KeptResponse {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  /** The body that was sent, without secrets. */
  readonly body: string;
}

export type IdempotencyVerdict =
  /** The caller handles the request, and ends with `finish` or `abandon`. */
  | { readonly kind: 'new' }
  /** The first request with this key has not been answered yet. */
  | { readonly kind: 'running' }
  /** The key was used with another body. */
  | { readonly kind: 'reused' }
  | { readonly kind: 'done'; readonly response: KeptResponse };

export interface IdempotencyStore {
  begin(key: IdempotencyKey, requestHash: string, nowMs: number): IdempotencyVerdict;
  finish(key: IdempotencyKey, response: KeptResponse): void;
  /**
   * Stores the answer to give if this process ends before it answers the request. To be called in the transaction that
   * stores the effect. Until `finish` or `release` the request still counts as running.
   */
  note(key: IdempotencyKey, response: KeptResponse): void;
  /** From now on the noted answer is given. If there is none, because the transaction failed, the key may be used again. */
  release(key: IdempotencyKey): void;
  /** The request had no effect: the key may be used again. */
  abandon(key: IdempotencyKey): void;
  /** Forgets what is older than a day. */
  prune(nowMs: number): void;
  /** Forgets unanswered requests of an earlier process, which had no effect. */
  forgetRunning(): void;
}

interface Row {
  readonly request_hash: string;
  readonly begun_at: number;
  readonly status: number | null;
  readonly headers: string | null;
  readonly body: string | null;
}

export function createIdempotencyStore(db: Database): IdempotencyStore {
  const select = db.prepare<[string, string, string], Row>(
    'SELECT * FROM idempotency WHERE key = ? AND route = ? AND caller = ?',
  );
  const insert = db.prepare<[string, string, string, string, number]>(
    'INSERT OR REPLACE INTO idempotency VALUES (?, ?, ?, ?, ?, NULL, NULL, NULL)',
  );
  const answer = db.prepare<[number, string, string, string, string, string]>(
    'UPDATE idempotency SET status = ?, headers = ?, body = ? WHERE key = ? AND route = ? AND caller = ?',
  );
  const remove = db.prepare<[string, string, string]>(
    'DELETE FROM idempotency WHERE key = ? AND route = ? AND caller = ?',
  );
  const removeUnanswered = db.prepare<[string, string, string]>(
    'DELETE FROM idempotency WHERE key = ? AND route = ? AND caller = ? AND status IS NULL',
  );
  const prune = db.prepare<[number, number]>('DELETE FROM idempotency WHERE begun_at <= ? OR begun_at > ?');
  const forgetRunning = db.prepare<[]>('DELETE FROM idempotency WHERE status IS NULL');

  const noted = new Set<string>();
  const nameOf = ({ key, route, caller }: IdempotencyKey): string => JSON.stringify([key, route, caller]);
  const keep = ({ key, route, caller }: IdempotencyKey, { status, headers, body }: KeptResponse): void => {
    answer.run(status, JSON.stringify(headers), body, key, route, caller);
  };

  return {
    begin: db.transaction(
      ({ key, route, caller }: IdempotencyKey, requestHash: string, nowMs: number): IdempotencyVerdict => {
        const row = select.get(key, route, caller);
        if (row === undefined || row.begun_at <= nowMs - IDEMPOTENCY_MS) {
          insert.run(key, route, caller, requestHash, nowMs);
          return { kind: 'new' };
        }
        if (row.request_hash !== requestHash) return { kind: 'reused' };
        if (row.status === null || noted.has(nameOf({ key, route, caller }))) return { kind: 'running' };
        const headers = JSON.parse(row.headers ?? '{}') as Record<string, string>;
        return { kind: 'done', response: { status: row.status, headers, body: row.body ?? '' } };
      },
    ),
    finish(id, response) {
      noted.delete(nameOf(id));
      keep(id, response);
    },
    note(id, response) {
      keep(id, response);
      noted.add(nameOf(id));
    },
    release(id) {
      noted.delete(nameOf(id));
      removeUnanswered.run(id.key, id.route, id.caller);
    },
    abandon({ key, route, caller }) {
      remove.run(key, route, caller);
    },
    prune: (nowMs) => {
      // A time far in the future was stored while the clock was wrong, and would be kept for ever.
      prune.run(nowMs - IDEMPOTENCY_MS, nowMs + IDEMPOTENCY_MS);
    },
    forgetRunning: () => {
      forgetRunning.run();
    },
  };
}
