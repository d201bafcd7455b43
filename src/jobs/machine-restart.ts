/** Whether the machine has started anew since an agent last began here: what ran then ended with it, by no fault of its own. */
import type { SettingStore } from '../db/settings.ts';

const KEY = 'boot';

/** Notes the start of the machine that this is. False when none was noted. */
export function machineRestarted(settings: SettingStore, boot: string): boolean {
  const before = settings.get(KEY);
  settings.set(KEY, boot);
  return before !== undefined && before !== boot;
}
