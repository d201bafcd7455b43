import type { Repository } from '../../src/repository/repository.ts';
import type { Snapshot } from '../../src/repository/snapshots.ts';
import type { RestoreRequest } from '../../src/restorer/request/request.ts';

/** All of a snapshot to an empty directory, as root with ownership; without threads, each of which loads the sources anew. */
export function wholeRestore(
  repository: Repository,
  snapshot: Snapshot,
  target: string,
  overrides: Partial<RestoreRequest> = {},
): RestoreRequest {
  return {
    repository,
    snapshot,
    target: { kind: 'directory', path: target },
    never: [],
    paths: [],
    include: [],
    exclude: [],
    overwrite: 'never',
    deleteExtra: false,
    dryRun: false,
    verify: true,
    restoreOwnership: process.getuid?.() === 0,
    ownersByName: false,
    workers: 0,
    ...overrides,
  };
}
