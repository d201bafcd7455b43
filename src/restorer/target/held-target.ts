/** Sees to it that only one restore at a time works in a target. */
import { setTimeout as delay } from 'node:timers/promises';
import { pathText } from '../../base/tree-path.ts';
import type { ByteString } from '../../base/byte-path.ts';
import { StateError } from '../../base/errors.ts';
import type { EntryStat } from '../../system/entry-stat.ts';
import { type TargetDirectory, UNFINISHED_FILE } from './target-directory.ts';
import { isAbandoned, isHold, isOfRun, processOf, temporaryName } from './temporary-names.ts';
import { removeQuietly } from './unfinished-files.ts';

/** Milliseconds to wait for a restore that is just ending or being killed, and between two looks. */
const ENDING_MS = 5_000;
const LOOK_MS = 50;

/**
 * Holds a target with an empty file in it, which bears the name of this run. Of two that begin at the same time, the
 * one whose file is older goes on.
 * @param place the target, for the error
 * @returns gives it up
 * @throws {StateError} TARGET_IN_USE
 */
export async function holdTarget(
  root: TargetDirectory,
  run: string,
  place: ByteString,
  signal: AbortSignal,
): Promise<() => void> {
  const own = temporaryName(run, 0);
  root.closeFile(root.createFile(own, UNFINISHED_FILE));
  const giveUp = (): void => removeQuietly(() => root, own);
  try {
    for (let waitedMs = 0; ; waitedMs += LOOK_MS) {
      const other = olderHold(root, run, root.find(own));
      if (other === undefined) return giveUp;
      if (waitedMs >= ENDING_MS) throw inUse(place, other);
      await delay(LOOK_MS, undefined, { signal });
    }
  } catch (error) {
    giveUp();
    throw error;
  }
}

function olderHold(root: TargetDirectory, run: string, own: EntryStat | undefined): ByteString | undefined {
  return root.names().find((name) => {
    if (!isHold(name) || isOfRun(name, run) || isAbandoned(name)) return false;
    const found = root.find(name);
    if (found === undefined || own === undefined) return false;
    return found.mtimeNs === own.mtimeNs ? name < temporaryName(run, 0) : found.mtimeNs < own.mtimeNs;
  });
}

function inUse(place: ByteString, other: ByteString): StateError {
  return new StateError(
    'TARGET_IN_USE',
    `Another restore is at work in ${pathText(place)} (process ${processOf(other)})`,
    { op: 'restore', hint: 'Wait until it has ended, or choose another directory.', retry: 'later' },
  );
}
