/** Jobs that were running when an earlier agent ended without recording their end, as after a crash or power failure. */
import type { JobBookkeeping } from '../db/jobs.ts';
import type { SettingStore } from '../db/settings.ts';
import type { AttemptEnd } from './attempt.ts';

const KEY = 'boot';

/**
 * Records which boot of the machine this is. Returns whether it differs from the boot of the last agent: jobs that ran
 * then were ended by the machine, not by a fault of their own. False when none was recorded.
 */
export function machineRestarted(settings: SettingStore, boot: string): boolean {
  const before = settings.get(KEY);
  settings.set(KEY, boot);
  return before !== undefined && before !== boot;
}

/** How the attempt at a job that was left running ended. */
export function endOfLeft({ cancelRequested }: JobBookkeeping, isRestarted: boolean): AttemptEnd {
  if (cancelRequested) return { kind: 'canceled' };
  return isRestarted ? { kind: 'cut' } : { kind: 'died', how: 'agent-ended' };
}
