/** The store of the Partner service on its disk, opened without the service. */
import { systemClock } from '../../../src/base/clock.ts';
import { openPartnerKeys } from '../../../src/partner/secrets/keys.ts';
import { openPartnerStore } from '../../../src/partner/store/store.ts';

/** Below the state directory that its service is given. */
export const PARTNER_STATE = '/mnt/partner/state';
export const PARTNER_PLACE = `${PARTNER_STATE}/partner`;

export async function openPartnerDisk() {
  const keys = await openPartnerKeys(`${PARTNER_PLACE}/partner.key`);
  const options = { pepper: keys.pepper, chance: () => 0 };
  return await openPartnerStore(`sqlite:${PARTNER_PLACE}/partner.sqlite`, systemClock, options);
}
