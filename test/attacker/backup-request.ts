import { NO_EXCLUSIONS } from '../../src/exclude/excluder.ts';
import { bytesOfText } from '../../src/base/byte-path.ts';
import type { Repository } from '../../src/repository/repository.ts';
import type { Machine } from '../simulator/machine.ts';
import type { ArchiveRequest } from '../../src/archiver/archive-request.ts';

/** @param host whose backup it is said to be */
export function requestOf(
  repository: Repository,
  machine: Machine,
  tag: string,
  host: string = machine.name,
): ArchiveRequest {
  return {
    repository,
    sources: [bytesOfText(machine.sources.root)],
    host,
    user: 'user',
    tool: 'attacked',
    tags: [tag],
    pinned: false,
    compression: { kind: 'none' },
    plain: false,
    isolated: false,
    exclude: NO_EXCLUSIONS,
    parent: 'auto',
  };
}
