/** The path of a request for the folder of snapshots, and how names are written in addresses: byte by byte. */
import { asByteString, type ByteString } from '../../base/byte-path.ts';
import { pathOf } from '../framework/route-table.ts';

/** Start of every path below which snapshots are a folder. */
export const WEBDAV_ROOT = '/dav';

/** Whether a request is for the folder of snapshots. */
export function isWebdavTarget(target: string): boolean {
  const path = pathOf(target);
  return path === WEBDAV_ROOT || path.startsWith(`${WEBDAV_ROOT}/`);
}

export interface WebdavTarget {
  /** Those below `WEBDAV_ROOT`. */
  readonly names: readonly ByteString[];
  /** It is written as the address of a folder. */
  readonly endsInSlash: boolean;
}

/** Undefined for what is not encoded as it should be, and for names that mean another place or none. */
export function readWebdavTarget(target: string): WebdavTarget | undefined {
  const path = pathOf(target).slice(WEBDAV_ROOT.length);
  const names: ByteString[] = [];
  for (const part of path.split('/')) {
    const name = decodeName(part);
    if (name === undefined || name === '.' || name === '..' || /[/\0]/.test(name)) return undefined;
    if (name !== '') names.push(name);
  }
  return { names, endsInSlash: path === '' || path.endsWith('/') };
}

/** Node gives a target as Latin-1, so that bytes which were sent unescaped are there as well. */
function decodeName(part: string): ByteString | undefined {
  if (/%(?![0-9A-Fa-f]{2})/.test(part)) return undefined;
  return asByteString(
    part.replaceAll(/%(..)/g, (_all, hex: string) => String.fromCharCode(Number.parseInt(hex, 16))),
  );
}

/** Names in the form of an address. Only what nobody could misread stays as it is. */
export function encodeNames(names: readonly ByteString[]): string {
  return names.map((name) => `/${encodeName(name)}`).join('');
}

function encodeName(name: ByteString): string {
  return name.replaceAll(
    /[^A-Za-z0-9._~-]/g,
    (byte) => `%${byte.charCodeAt(0).toString(16).toUpperCase().padStart(2, '0')}`,
  );
}
