/** The client of a Partner service, for partners. */
import type { PartnerRoutes } from '../../dist/client/partner-api.d.ts';
import { callsOf } from './calls.ts';
import { type ConnectionOptions, connectionTo } from './connection.ts';
import { type Clock, systemClock } from './pauses.ts';
import type { Calls } from './route-types.ts';

export interface PartnerOptions extends ConnectionOptions {
  /** Of the service, as `https://backup.example.org`. */
  readonly address: string;
  /** As the settings page showed it, once. */
  readonly apiKey: string;
}

export type PartnerClient = Calls<PartnerRoutes>;

/** Nothing is asked before the first call. */
export function partnerClient(options: PartnerOptions, clock: Clock = systemClock): PartnerClient {
  const identity = {
    headers: async () => ({ authorization: `Bearer ${options.apiKey}` }),
    renews: () => false,
  };
  const connection = { ...connectionTo(options.address, '/api/partner/v1', options, clock), identity };
  return callsOf<PartnerRoutes>(connection, () => 100);
}
