/** The store of the Partner service on a mounted disk, opened without the service. */
import path from 'node:path';
import { systemClock } from '../../../src/base/clock.ts';
import { openPartnerKeys } from '../../../src/partner/keys.ts';
import { openPartnerStore } from '../../../src/partner/store/store.ts';

export async function openPartnerDisk(mount: string) {
  const at = (name: string): string => path.join(mount, 'state', 'partner', name);
  const keys = await openPartnerKeys(at('partner.key'));
  const options = { pepper: keys.pepper, chance: () => 0 };
  return await openPartnerStore(`sqlite:${at('partner.sqlite')}`, systemClock, options);
}
