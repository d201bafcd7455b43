/** Whether the directories of destinations exist. */
import { existsSync } from 'node:fs';
import { treePath } from '../../base/tree-path.ts';
import type { Clock } from '../../base/clock.ts';
import { touchFar } from '../../system/far-answer.ts';
import { farPlaceOf, type FarPlace } from '../../system/far-mounts.ts';

/** Milliseconds for which the answer of another machine is reused. */
const HOLDS_MS = 10_000;

interface Known {
  isThere: boolean;
  askedMs: number;
  isAsking: boolean;
}

/**
 * Returns a function that answers at once, even if a file system hangs. For a directory on another machine it returns
 * the last result while a new look is under way; before the first result it returns `unanswered`.
 */
export function createPresence(clock: Clock): (directory: string, unanswered?: boolean) => boolean {
  const known = new Map<string, Known>();
  const ask = async ({ path, mount }: FarPlace, of: Known): Promise<void> => {
    of.isAsking = true;
    of.isThere = (await touchFar(path, new AbortController().signal, { mount })) === 'there';
    of.isAsking = false;
    of.askedMs = clock.monotonic();
  };
  return (directory, unanswered = false) => {
    const far = farPlaceOf(treePath(directory));
    if (far === undefined) return existsSync(directory);
    const of = known.get(directory) ?? {
      isThere: false,
      askedMs: Number.NEGATIVE_INFINITY,
      isAsking: false,
    };
    known.set(directory, of);
    if (!of.isAsking && clock.monotonic() - of.askedMs >= HOLDS_MS) void ask(far, of);
    return of.askedMs === Number.NEGATIVE_INFINITY ? unanswered : of.isThere;
  };
}
