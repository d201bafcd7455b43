/** Jobs that an agent left running which ended without a word, as by a crash or without power. */
import type { JobBookkeeping } from '../db/jobs.ts';
import type { SettingStore } from '../db/settings.ts';
import type { AttemptEnd } from './attempt.ts';

const KEY = 'boot';

/**
 * Notes which start of the machine this is. Whether it is another one than that of the last agent: what ran then ended with
 * the machine, by no fault of its own. False when none was noted.
 */
export function machineRestarted(settings: SettingStore, boot: string): boolean {
  const before = settings.get(KEY);
  settings.set(KEY, boot);
  return before !== undefined && before !== boot;
}

/** How the attempt at such a job ended. */
export function endOfLeft({ cancelRequested }: JobBookkeeping, isRestarted: boolean): AttemptEnd {
  if (cancelRequested) return { kind: 'canceled' };
  return isRestarted ? { kind: 'cut' } : { kind: 'died', how: 'agent-ended' };
}
