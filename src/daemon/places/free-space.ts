/** How much room there is on the disks of destinations. */
import { statfs } from 'node:fs/promises';
import type { Clock } from '../../base/clock.ts';
import { answersFrom } from '../../system/far-answer.ts';

/** Milliseconds for which a disk is not asked again, and that an answer may take. */
const SPACE_MS = 5_000;
const PATIENCE_MS = 200;
/** Milliseconds in which a disk of another machine has to answer. */
const ANSWER_MS = 1_000;

interface Space {
  bytes: number | null;
  askedMs: number;
  asking: Promise<void> | undefined;
}

/** Tells what is free on the disk of a directory: at once, however slow that disk is. Null while it is not known. */
export function freeSpace(clock: Clock): (directory: string) => Promise<number | null> {
  const known = new Map<string, Space>();
  const ask = async (directory: string, space: Space): Promise<void> => {
    space.bytes = await freeBytesOf(directory);
    space.askedMs = clock.monotonic();
    space.asking = undefined;
  };
  return async (directory) => {
    const space: Space = known.get(directory) ?? {
      bytes: null,
      askedMs: Number.NEGATIVE_INFINITY,
      asking: undefined,
    };
    known.set(directory, space);
    if (clock.monotonic() - space.askedMs < SPACE_MS) return space.bytes;
    // One question at a time: a share that hangs must not take up all threads that ask disks.
    space.asking ??= ask(directory, space);
    await soon(space.asking, PATIENCE_MS);
    return space.bytes;
  };
}

/** Null where that cannot be told, or not soon. */
export async function freeBytesOf(directory: string): Promise<number | null> {
  if (!(await answersFrom(directory, new AbortController().signal, ANSWER_MS))) return null;
  try {
    const { bavail, bsize } = await statfs(directory);
    return bavail * bsize;
  } catch {
    // It does not exist yet, or is not mounted, which the checks tell.
    return null;
  }
}

async function soon(wanted: Promise<void>, ms: number): Promise<void> {
  const enough = Promise.withResolvers<undefined>();
  const timer = setTimeout(() => enough.resolve(undefined), ms);
  try {
    await Promise.race([wanted, enough.promise]);
  } finally {
    clearTimeout(timer);
  }
}
