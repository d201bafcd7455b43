/** The messages between the daemon's thread and the catalog's threads, as plain data. */
import type { EntryRequest } from './answers/file-list.ts';
import type { StatesRequest } from './answers/path-versions.ts';
import {
  BugError,
  DestinationError,
  HoldfastError,
  RepositoryError,
  RequestError,
  StateError,
  isAbort,
  type DestinationKind,
  type ErrorFacts,
  type RepositoryCode,
} from '../base/errors.ts';
import type { DestinationAccess } from '../destination/access.ts';
import type { Person } from '../destination/open/open.ts';
import type { FileQuery, NewestRequest, SnapshotRequest } from '../jobs/agent.ts';
import { isDamagedCatalog } from './tables/catalog-database.ts';
import type { DiffRequest } from './answers/catalog-reader.ts';
import type { EntriesRequest } from './answers/directory-entries.ts';
import type { SearchRequest } from './answers/file-search.ts';
import type { ForgettingRequest } from './answers/forgetting-preview.ts';
import type { SnapshotChoice } from './answers/known-snapshots.ts';
import type { SyncProgress, SyncReport } from './ingest/sync.ts';

/** How a thread opens the repository. The access that an engine gets to its destination can be used as well. */
export interface RepositoryAccess {
  readonly url: string;
  readonly access?: DestinationAccess | undefined;
  readonly person?: Person | undefined;
  readonly secret:
    | { readonly kind: 'passphrase'; readonly text: string }
    /** Base64 of 32 bytes. */
    | { readonly kind: 'machine'; readonly base64: string };
}

export interface SyncSetup {
  /** The path of the catalog's file. */
  readonly path: string;
  /** The directory with this machine's copies of a remote repository's metadata. */
  readonly stateDirectory: string;
  readonly repositoryId: string;
  readonly access: RepositoryAccess;
  readonly allowWeakCost: boolean;
}

export type ToSync = 'stop';

export type FromSync =
  | { readonly kind: 'progress'; readonly progress: SyncProgress }
  | { readonly kind: 'done'; readonly report: SyncReport }
  | { readonly kind: 'failed'; readonly failure: Failure };

export interface QuerySetup {
  readonly path: string;
}

export type Question =
  | { readonly kind: 'files'; readonly query: FileQuery; readonly chosen: readonly string[] | undefined }
  | { readonly kind: 'chosen'; readonly choice: SnapshotChoice }
  | ({ readonly kind: 'entry' } & EntryRequest)
  | { readonly kind: 'entries'; readonly request: EntriesRequest }
  | { readonly kind: 'search'; readonly request: SearchRequest }
  | { readonly kind: 'newest_of'; readonly paths: readonly string[]; readonly source: string | undefined }
  | ({ readonly kind: 'states' } & StatesRequest)
  | { readonly kind: 'diff'; readonly request: DiffRequest }
  | { readonly kind: 'snapshots'; readonly request: SnapshotRequest }
  | { readonly kind: 'newest'; readonly request: NewestRequest }
  | { readonly kind: 'snapshot'; readonly id: string }
  | { readonly kind: 'snapshot_of_backup'; readonly backupId: string }
  | { readonly kind: 'holdings' }
  | { readonly kind: 'forgetting'; readonly request: ForgettingRequest }
  /** Asks only whether the catalog can be opened. */
  | { readonly kind: 'open' };

export type ToQuery = { readonly number: number; readonly question: Question } | 'end';

export type FromQuery =
  | { readonly number: number; readonly answer: unknown }
  | { readonly number: number; readonly failure: Failure };

/** An error as plain data, since an Error that is sent between threads loses its class and its code. */
export interface Failure {
  readonly side: HoldfastError['side'];
  readonly code: string;
  /** The kind of a DestinationError. */
  readonly kind: string | undefined;
  readonly message: string;
  readonly facts: Omit<ErrorFacts, 'cause'>;
  readonly stack: string | undefined;
  readonly aborted: boolean;
  /** The fault lies in the catalog's file: building it anew mends it. */
  readonly damaged: boolean;
}

export function failureOf(error: unknown): Failure {
  const known = error instanceof HoldfastError ? error : undefined;
  const plain = error instanceof Error ? error : new Error(String(error));
  return {
    side: known?.side ?? 'bug',
    code: known?.code ?? '',
    kind: error instanceof DestinationError ? error.kind : undefined,
    message: plain.message,
    facts:
      known === undefined
        ? {}
        : { op: known.op, hint: known.hint, details: known.details, retry: known.retry },
    stack: plain.stack,
    aborted: isAbort(error),
    damaged: isDamagedCatalog(error),
  };
}

export function errorOf({ side, code, kind, message, facts, stack }: Failure): HoldfastError {
  switch (side) {
    case 'request':
      return new RequestError(code, message, facts);
    case 'state':
      return new StateError(code, message, facts);
    case 'repository':
      return new RepositoryError(code as RepositoryCode, message, facts);
    case 'destination':
      return new DestinationError(kind as DestinationKind, message, facts);
    case 'bug':
    case 'config':
    case 'source':
      return new BugError(message, { ...facts, cause: stack });
  }
}
