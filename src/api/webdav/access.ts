/**
 * Who may look at the snapshots as a folder: whoever has a secret of 256 bits, which is shown once, when a person turns
 * the folder on. Only a keyed hash of it is kept.
 */
import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import type { Clock } from '../../base/clock.ts';
import type { SettingStore } from '../../db/settings.ts';

/** For clients that ask for a name beside the secret. */
export const WEBDAV_USER = 'holdfast';

const SETTING = 'webdav';
const SECRET_BYTES = 32;

export interface WebdavAccess {
  /** When it was turned on, in milliseconds since 1970; undefined while it is off. */
  readonly since: number | undefined;
  /** Gives a new secret, which voids the one before. */
  turnOn(): string;
  turnOff(): void;
  opens(secret: string): boolean;
}

/** `key` is what secrets are hashed with. */
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
      // The start says what it is, so that it is taken out of logs.
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
