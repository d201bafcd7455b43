/** Reads the path of a request for the folder of snapshots, and writes names in URLs, byte by byte. */
import { asByteString, type ByteString } from '../../base/byte-path.ts';
import { pathOf } from '../framework/route-table.ts';

/** Path below which snapshots are served as a folder. */
export const WEBDAV_ROOT = '/dav';

/** Whether a request is for the folder of snapshots. */
export function isWebdavTarget(target: string): boolean {
  const path = pathOf(target);
  return path === WEBDAV_ROOT || path.startsWith(`${WEBDAV_ROOT}/`);
}

export interface WebdavTarget {
  /** The names below `WEBDAV_ROOT`. */
  readonly names: readonly ByteString[];
  /** Whether the path is written as the URL of a folder. */
  readonly endsInSlash: boolean;
}

/**
 * Undefined for a path that is not encoded correctly, and for names such as `..` that mean another place or are not
 * valid.
 */
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

/** Node gives the request target as Latin-1, so bytes that were sent unescaped are preserved as well. */
function decodeName(part: string): ByteString | undefined {
  if (/%(?![0-9A-Fa-f]{2})/.test(part)) return undefined;
  return asByteString(
    part.replaceAll(/%(..)/g, (_all, hex: string) => String.fromCharCode(Number.parseInt(hex, 16))),
  );
}

/** Names as the path of a URL. Only characters that cannot be misread stay unescaped. */
export function encodeNames(names: readonly ByteString[]): string {
  return names.map((name) => `/${encodeName(name)}`).join('');
}

function encodeName(name: ByteString): string {
  return name.replaceAll(
    /[^A-Za-z0-9._~-]/g,
    (byte) => `%${byte.charCodeAt(0).toString(16).toUpperCase().padStart(2, '0')}`,
  );
}
