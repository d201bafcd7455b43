/** Who is let in to the folder of snapshots: by a secret that begins the path, or as the password of Basic. */
import type { IncomingMessage } from 'node:http';
import { holdfastForAnybody } from '../../base/holdfast-command.ts';
import type { ByteString } from '../../base/byte-path.ts';
import { ApiError } from '../wire/api-error.ts';
import { soleHeader } from '../wire/sole-header.ts';
import { WEBDAV_USER, type WebdavAccess } from './access.ts';
import { encodeNames, WEBDAV_ROOT } from './target.ts';

export interface Admission {
  /** Start of the addresses that the client is given, without a slash at its end. */
  readonly base: string;
  /** What is asked for below it. */
  readonly names: readonly ByteString[];
}

/** Undefined: neither way has the secret. */
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

/** Of our user; undefined for everything else. */
function basicPassword(header: string | undefined): string | undefined {
  const encoded = /^Basic +([A-Za-z0-9+/]+={0,2}) *$/i.exec(header ?? '')?.[1];
  if (encoded === undefined) return undefined;
  const pair = Buffer.from(encoded, 'base64').toString('utf8');
  return pair.startsWith(`${WEBDAV_USER}:`) ? pair.slice(WEBDAV_USER.length + 1) : undefined;
}

/** The same whether a secret was wrong or missing, so that clients ask for one. */
export function notAdmitted(): ApiError {
  return new ApiError('UNAUTHORIZED', 'The address does not have the secret of the folder', {
    hint: `Use the address that "${holdfastForAnybody`webdav on`}" gave, or turn it on again for a new one.`,
    headers: { 'www-authenticate': 'Basic realm="Holdfast snapshots", charset="UTF-8"' },
  });
}

export function turnedOff(): ApiError {
  return new ApiError('NOT_FOUND', 'The snapshots are not shown as a folder', {
    hint: `Turn it on with: ${holdfastForAnybody`webdav on`}`,
  });
}
