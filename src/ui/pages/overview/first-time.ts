/** Tells whether a user sees this page for the first time, and whether they declined to be guided. */
import type { Overview } from '../../../api/schemas/page/overview.ts';

/** Whether no source is chosen and nothing was ever backed up. */
export function isFresh({ sources, active, recent, saved }: Overview): boolean {
  return sources.length === 0 && active.length === 0 && recent.length === 0 && saved.snapshots === 0;
}

const LEFT = 'holdfast-first-run-left';

/** Remembers for this tab of the browser that the user declined to be guided. */
export function leave(): void {
  sessionStorage.setItem(LEFT, 'yes');
}

export function wasLeft(): boolean {
  return sessionStorage.getItem(LEFT) !== null;
}
