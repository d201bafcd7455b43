/**
 * Controls access to the WebDAV folder of snapshots, by a secret of 256 bits. It is shown once, when a user turns the
 * folder on, and only its keyed hash is stored.
 */
import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import type { Clock } from '../../base/clock.ts';
import type { SettingStore } from '../../db/settings.ts';

/** User name for clients that ask for one in addition to the secret. */
export const WEBDAV_USER = 'holdfast';

const SETTING = 'webdav';
const SECRET_BYTES = 32;

export interface WebdavAccess {
  /** When the folder was turned on, in milliseconds since 1970; undefined while it is off. */
  readonly since: number | undefined;
  /** Returns a new secret, which invalidates the previous one. */
  turnOn(): string;
  turnOff(): void;
  opens(secret: string): boolean;
}

/** @param key keys the hashes of secrets */
export function createWebdavAccess(
  store: Pick<SettingStore, 'get' | 'set'>,
  key: Uint8Array,
  clock: Pick<Clock, 'now'>,
): WebdavAccess {
  const hashOf = (secret: string): Buffer => createHmac('sha256', key).update(secret, 'utf8').digest();
  const kept = (): { readonly since: number; readonly hash: Buffer } | undefined => {
    const [since, hash] = store.get(SETTING)?.split(' ') ?? [];
    return hash === undefined ? undefined : { since: Number(since), hash: Buffer.from(hash, 'base64') };
  };
  return {
    get since() {
      return kept()?.since;
    },
    turnOn() {
      // The prefix identifies the secret, so that it is removed from logs.
      const secret = `hfw_${randomBytes(SECRET_BYTES).toString('base64url')}`;
      store.set(SETTING, `${clock.now()} ${hashOf(secret).toString('base64')}`);
      return secret;
    },
    turnOff() {
      store.set(SETTING, undefined);
    },
    opens(secret) {
      const hash = kept()?.hash;
      return hash !== undefined && timingSafeEqual(hash, hashOf(secret));
    },
  };
}
