/** Overrides what the Google library would take from the environment to decide which server it asks, and how. */
import type { Storage } from '@google-cloud/storage';
import { RequestError } from '../../base/errors.ts';
import { processEnvironment } from '../../base/web/process-environment.ts';
import { proxyFor } from '../../base/web/proxy.ts';
import type { GooglePlace } from '../location.ts';

/**
 * Refuses the variable of the emulator. The library prefers it to any endpoint, so the same URL would mean two
 * different stores.
 * @throws {RequestError} INVALID_DESTINATION
 */
export function refuseEmulator({ bucket, prefix }: GooglePlace): void {
  const emulator = processEnvironment['STORAGE_EMULATOR_HOST'] ?? '';
  if (emulator === '') return;
  const place = `gs://${bucket}${prefix === '' ? '' : `/${prefix}`}`;
  throw new RequestError(
    'INVALID_DESTINATION',
    'The variable STORAGE_EMULATOR_HOST names another store than the URL of the destination',
    {
      op: 'open destination',
      hint: `Unset the variable. To use that store, write ${place}?endpoint= and its address.`,
    },
  );
}

type Request = Parameters<Storage['request']>[0];

/**
 * Gives the library its proxy. Left alone it reads the proxy variables in an order of its own and understands only some
 * of their forms.
 */
export function goThroughProxy(storage: Storage, { endpoint }: GooglePlace): void {
  const proxy = proxyFor(new URL(endpoint ?? 'https://storage.googleapis.com'));
  if (proxy === undefined) return;
  const { href } = proxy.url;
  storage.interceptors.push({
    request: (options) => ({ ...(options as Request), proxy: href }),
  });
}
