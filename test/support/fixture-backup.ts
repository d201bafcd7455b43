import { archive } from '../../src/archiver/archive.ts';
import { NO_EXCLUSIONS } from '../../src/exclude/excluder.ts';
import { SILENT } from '../../src/archiver/report/observer.ts';
import { treePath } from '../../src/base/tree-path.ts';
import type { Repository } from '../../src/repository/repository.ts';
import type { Snapshot } from '../../src/repository/snapshots.ts';
import type { ArchiveRequest } from '../../src/archiver/archive-request.ts';

const { signal } = new AbortController();

/** Backs up a source of a repository that is kept as an example: the same on every machine, and small. */
export async function backUpExample(
  repository: Repository,
  source: string,
  overrides: Partial<ArchiveRequest> = {},
): Promise<Snapshot> {
  const request: ArchiveRequest = {
    repository,
    sources: [treePath(source)],
    host: 'example',
    user: 'somebody',
    tool: 'holdfast 0.1.0',
    tags: [],
    pinned: false,
    compression: { kind: 'zstd', level: 19 },
    plain: false,
    isolated: false,
    exclude: NO_EXCLUSIONS,
    parent: 'none',
    workers: 1,
    ...overrides,
  };
  return (await archive(request, SILENT, signal)).snapshot;
}
