/** Counts how much is in each of several directories, one after the other. */
import { useEffect, useState } from 'preact/hooks';
import type { Estimate } from '../../../api/schemas/page/protect.ts';
import { ask, AskError } from '../../agent/ask.ts';

/** Seconds after which a count is ended, as the user wants to go on. */
const WITHIN = 20;

/** `counting`: under way; `uncounted`: could not be counted. Directories without an entry still wait. */
export type Counted = Estimate | 'counting' | 'uncounted';
export type Estimates = ReadonlyMap<string, Counted>;

/** Counts those of `paths` that were not counted yet, in their order, while the component is shown. */
export function useEstimates(paths: readonly string[]): Estimates {
  const [known, setKnown] = useState<Estimates>(new Map());
  const next = paths.find((path) => !known.has(path) || known.get(path) === 'counting');
  useEffect(() => {
    if (next === undefined) return undefined;
    const controller = new AbortController();
    const learn = (counted: Counted): void => setKnown((before) => new Map(before).set(next, counted));
    const count = async (): Promise<void> => {
      try {
        const { signal } = controller;
        learn(await ask<Estimate>('POST', '/estimate', { body: { path: next, within: WITHIN }, signal }));
      } catch (error) {
        if (controller.signal.aborted) return;
        if (!(error instanceof AskError)) throw error;
        // The directory is backed up nevertheless, and the backup then says what is wrong with it.
        learn('uncounted');
      }
    };
    learn('counting');
    void count();
    return () => {
      controller.abort();
      setKnown((before) => without(before, next));
    };
  }, [next]);
  return known;
}

/** A count that was interrupted for another directory waits again. */
function without(known: Estimates, path: string): Estimates {
  return known.get(path) === 'counting' ? new Map([...known].filter(([one]) => one !== path)) : known;
}

export interface Sum {
  readonly bytes: number;
  /** Whether all counts are complete. */
  readonly isComplete: boolean;
}

/** The sum of the counts; undefined while there is none. */
export function sumOf(paths: readonly string[], estimates: Estimates): Sum | undefined {
  const counted = paths.flatMap((path) => {
    const one = estimates.get(path);
    return typeof one === 'object' ? [one] : [];
  });
  if (counted.length === 0) return undefined;
  return {
    bytes: counted.reduce((sum, { bytes }) => sum + bytes, 0),
    isComplete: counted.length === paths.length && counted.every(({ complete }) => complete),
  };
}
