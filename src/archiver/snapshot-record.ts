import { hostname } from 'node:os';
import { toolName } from '../base/program-version.ts';
import { userName } from '../base/user-name.ts';
import type { Namespace } from '../codec/keys.ts';
import type { SnapshotRecord } from '../format/records.ts';
import type { ArchiveRequest } from './archive-request.ts';
import type { Parent } from './before/parent.ts';
import type { Tally } from './report/tally.ts';
import type { StoredDirectory } from './store/pending-directory.ts';

/** The snapshot record of a finished run. */
export function snapshotRecord(
  request: Pick<ArchiveRequest, 'tool' | 'host' | 'user' | 'sources' | 'named' | 'tags' | 'pinned' | 'plain'>,
  result: {
    root: StoredDirectory;
    namespace: Namespace;
    tally: Tally;
    parent: Parent | undefined;
    startedMs: number;
    finishedMs: number;
    kind: 'files' | 'stream';
  },
): SnapshotRecord {
  const { root, namespace, tally, parent, startedMs, finishedMs } = result;
  const { tool, host, user, sources, named = [], tags, pinned, plain } = request;
  return {
    tool,
    host,
    user,
    paths: sources,
    ...(named.length === 0 ? {} : { named }),
    startedMs,
    finishedMs,
    root: root.id,
    plain,
    salt: namespace.salt === undefined ? undefined : Buffer.from(namespace.salt),
    tags,
    pinned,
    status: tally.problemCount === 0 ? 'complete' : 'partial',
    errors: tally.problems,
    errorsMore: tally.problemsMore,
    counts: {
      files: root.totals.files,
      directories: tally.directories,
      links: tally.links,
      others: tally.others,
      bytes: root.totals.bytes,
      new: tally.filesNew,
      changed: tally.filesChanged,
      unchanged: tally.filesUnchanged,
      failed: tally.filesFailed,
    },
    owners: tally.owners(parent?.snapshot.record.owners),
    omitted: tally.omitted,
    parent: parent?.snapshot.id,
    kind: result.kind,
  };
}

export interface MadeHere {
  readonly host: string;
  readonly user: string;
  readonly tool: string;
}

/** What every snapshot made on this machine records about its origin. */
export function madeHere(): MadeHere {
  return { host: hostname(), user: userName(), tool: toolName() };
}
