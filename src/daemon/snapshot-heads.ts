/** The newest record of each writer, as far as this machine has seen the repositories: what a witness is told. */
import { join } from 'node:path';
import { StateError } from '../base/errors.ts';
import { namesIn } from '../base/names-in.ts';
import type { SnapshotHead } from '../enrollment/heads.ts';
import { WriterState } from '../repository/writer-state.ts';

const FILE = /^([0-9a-f]{32})\.json$/;

/** For each repository the own one first. */
export async function snapshotHeads(stateDirectory: string): Promise<readonly SnapshotHead[]> {
  const heads: SnapshotHead[] = [];
  for (const name of (await namesIn(join(stateDirectory, 'repositories'))).toSorted()) {
    const repositoryId = FILE.exec(name)?.[1];
    if (repositoryId !== undefined) heads.push(...(await headsOf(stateDirectory, repositoryId)));
  }
  return heads;
}

async function headsOf(stateDirectory: string, repositoryId: string): Promise<readonly SnapshotHead[]> {
  try {
    const { memory } = await WriterState.open(stateDirectory, repositoryId);
    const { writer, seq, prev: record, heads } = memory;
    const { [writer]: _own, ...others } = heads;
    return [[writer, { seq, record }] as const, ...Object.entries(others)].map(
      ([of, head]): SnapshotHead => ({
        repository_id: repositoryId,
        writer: of,
        seq: head.seq,
        hash: head.record,
      }),
    );
  } catch (error) {
    // Whoever next uses the repository is told that the memory of it is damaged.
    if (error instanceof StateError) return [];
    throw error;
  }
}
