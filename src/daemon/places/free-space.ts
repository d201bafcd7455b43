/** Free space on the disks of destinations. */
import { statfs } from 'node:fs/promises';
import type { Clock } from '../../base/clock.ts';
import { answersFrom } from '../../system/far-answer.ts';

/** Milliseconds for which an answer is reused, and that a caller waits for one. */
const SPACE_MS = 5_000;
const PATIENCE_MS = 200;
/** Milliseconds in which a network disk has to answer. */
const ANSWER_MS = 1_000;

interface Space {
  bytes: number | null;
  askedMs: number;
  asking: Promise<void> | undefined;
}

/**
 * Returns a function that tells the free bytes on the disk of a directory. It answers quickly, however slow the disk
 * is; null while the value is unknown.
 */
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
    // Only one request at a time: otherwise a hanging share would occupy all threads for file system calls.
    space.asking ??= ask(directory, space);
    await soon(space.asking, PATIENCE_MS);
    return space.bytes;
  };
}

/** Null when it is unknown, or the disk does not answer in time. */
export async function freeBytesOf(directory: string): Promise<number | null> {
  if (!(await answersFrom(directory, new AbortController().signal, ANSWER_MS))) return null;
  try {
    const { bavail, bsize } = await statfs(directory);
    return bavail * bsize;
  } catch {
    // The directory does not exist yet, or is not mounted, which other checks report.
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
