/** Whether somebody sees this page for the first time, and whether they said that they do not want to be led. */
import type { Overview } from '../../../api/schemas/page/overview.ts';

/** Nothing is chosen, and nothing was ever backed up. */
export function isFresh({ sources, active, recent, saved }: Overview): boolean {
  return sources.length === 0 && active.length === 0 && recent.length === 0 && saved.snapshots === 0;
}

const LEFT = 'holdfast-first-run-left';

/** For as long as the browser shows this page. */
export function leave(): void {
  sessionStorage.setItem(LEFT, 'yes');
}

export function wasLeft(): boolean {
  return sessionStorage.getItem(LEFT) !== null;
}
