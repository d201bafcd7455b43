/** The agent's queue while the disk that its state is on runs full, at different points: a small file system in memory. */
import { mkdirSync, rmdirSync } from 'node:fs';
import { expect } from 'vitest';
import type { SeededRandom } from '../support/seeded-random.ts';
import { mountDisk, pagesUsed, PLENTY_PAGES, resizeDisk, unmountDisk } from './full-disk.ts';
import { StateTrial } from './state-trial.ts';

export interface FullStateResult {
  readonly fills: number;
  /** How often the agent could not be started, refused some of its work, or had just room enough. */
  readonly reached: Readonly<Record<'kept from starting' | 'refused some' | 'just fitted', number>>;
}

/** So many pages more than there are hold all the work. */
const MOST_FREE_PAGES = 120;

/** @param disk a path that nothing has yet */
export function sweepFullState(disk: string, fills: number, random: SeededRandom): FullStateResult {
  const reached = { 'kept from starting': 0, 'refused some': 0, 'just fitted': 0 };
  for (let i = 0; i < fills; i += 1) {
    mkdirSync(disk, { mode: 0o700 });
    mountDisk(disk);
    try {
      const trial = new StateTrial(`${disk}/state`);
      trial.prepare();
      const free = Math.floor((MOST_FREE_PAGES * (i + random.next())) / fills);
      resizeDisk(disk, pagesUsed(disk) + free);
      try {
        trial.work();
      } finally {
        resizeDisk(disk, PLENTY_PAGES);
      }
      const refused = trial.refusals > 0 ? 'refused some' : 'just fitted';
      reached[trial.refusedToOpen ? 'kept from starting' : refused] += 1;
      trial.expectKept();
    } catch (error) {
      throw new Error(`fill ${i} of ${fills}: ${String(error)}`, { cause: error });
    } finally {
      unmountDisk(disk);
      rmdirSync(disk);
    }
  }
  expect(Object.values(reached).reduce((sum, count) => sum + count, 0)).toBe(fills);
  return { fills, reached };
}
