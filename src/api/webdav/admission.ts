/**
 * Admits requests to the WebDAV folder of snapshots by its secret, given as the first name of the path or as the
 * password of Basic authentication.
 */
import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import type { ByteString } from '../../base/byte-path.ts';
import type { Clock } from '../../base/clock.ts';
import { holdfastForAnybody } from '../../base/holdfast-command.ts';
import type { SettingStore } from '../../db/settings.ts';
import { ApiError } from '../wire/api-error.ts';
import { soleHeader } from '../wire/headers.ts';
import { encodeNames, WEBDAV_ROOT } from './target.ts';

export interface Admission {
  /** Start of the URLs that the client is given, without a trailing slash. */
  readonly base: string;
  /** The names of the requested path below `base`. */
  readonly names: readonly ByteString[];
}

/** Undefined when the secret is in neither place. */
export function admit(
  { rawHeaders }: Pick<IncomingMessage, 'rawHeaders'>,
  names: readonly ByteString[],
  access: Pick<WebdavAccess, 'opens'>,
): Admission | undefined {
  const [first, ...others] = names;
  if (first !== undefined && access.opens(first))
    return { base: WEBDAV_ROOT + encodeNames([first]), names: others };
  const password = basicPassword(soleHeader(rawHeaders, 'authorization'));
  return password !== undefined && access.opens(password) ? { base: WEBDAV_ROOT, names } : undefined;
}

/** The password for `WEBDAV_USER`; undefined for any other header. */
function basicPassword(header: string | undefined): string | undefined {
  const encoded = /^Basic +([A-Za-z0-9+/]+={0,2}) *$/i.exec(header ?? '')?.[1];
  if (encoded === undefined) return undefined;
  const pair = Buffer.from(encoded, 'base64').toString('utf8');
  return pair.startsWith(`${WEBDAV_USER}:`) ? pair.slice(WEBDAV_USER.length + 1) : undefined;
}

/** Used for wrong and for missing secrets alike, so that clients ask for one. */
export function notAdmitted(): ApiError {
  return new ApiError('UNAUTHORIZED', 'The address lacks the secret of the folder', {
    hint: `Use the address that "${holdfastForAnybody`webdav on`}" printed, or run it again for a new one.`,
    headers: { 'www-authenticate': 'Basic realm="Holdfast snapshots", charset="UTF-8"' },
  });
}

export function turnedOff(): ApiError {
  return new ApiError('NOT_FOUND', 'The snapshots are not available as a folder', {
    hint: `Turn it on with: ${holdfastForAnybody`webdav on`}`,
  });
}

/** User name for clients that ask for one in addition to the secret. */
export const WEBDAV_USER = 'holdfast';

const SETTING = 'webdav';
const SECRET_BYTES = 32;

/** The secret of the folder has 256 bits. It is shown once, when a user turns the folder on, and only its keyed hash is stored. */
interface WebdavAccess {
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
