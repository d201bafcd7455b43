/**
 * Remembers which repository was found at which place, so that a destination that suddenly has another one, or none, is refused.
 */
import type { Database } from './database.ts';

export interface KnownRepository {
  /** Without secrets. */
  readonly url: string;
  readonly repositoryId: string;
  /** When it was first seen there; milliseconds since 1970. */
  readonly since: number;
}

export interface RepositoryStore {
  get(url: string): KnownRepository | undefined;
  set(repository: KnownRepository): void;
  all(): readonly KnownRepository[];
}

/** @param changed called with every new record before it takes effect */
export function createRepositoryStore(
  db: Database,
  changed: (repository: KnownRepository) => void,
): RepositoryStore {
  const columns = 'url, repository_id AS repositoryId, since';
  const select = db.prepare<[string], KnownRepository>(`SELECT ${columns} FROM repositories WHERE url = ?`);
  const all = db.prepare<[], KnownRepository>(`SELECT ${columns} FROM repositories ORDER BY url`);
  const put = db.prepare<[string, string, number]>('INSERT OR REPLACE INTO repositories VALUES (?, ?, ?)');
  /** Cache of all records, until one is set. */
  let known: ReadonlyMap<string, KnownRepository> | undefined;
  return {
    get(url) {
      // A transaction may be rolled back, so its results are not cached.
      if (db.inTransaction) return select.get(url);
      known ??= new Map(all.all().map((repository) => [repository.url, repository]));
      return known.get(url);
    },
    set: db.transaction((repository: KnownRepository): void => {
      known = undefined;
      if (select.get(repository.url)?.repositoryId === repository.repositoryId) return;
      put.run(repository.url, repository.repositoryId, repository.since);
      changed(repository);
    }),
    all: () => all.all(),
  };
}
