import { isUtf8, type ByteString } from '../../base/byte-path.ts';

/** Names with a special meaning on Windows, with or without an extension. */
const RESERVED =
  /^(con|prn|aux|nul|com[0-9\u00b9\u00b2\u00b3]|lpt[0-9\u00b9\u00b2\u00b3]|conin\$|conout\$)(\..*)?$/i;
const REFUSED = /[[\p{Cc}&&[\0-~]]<>:"\|?*\\\/]/v;

/** Whether this system would take the name for another one, or for a path, a stream or a device. */
export function isImpossibleHere(name: ByteString, platform: NodeJS.Platform = process.platform): boolean {
  if (platform !== 'win32') return false;
  // Names are UTF-16 there: bytes that are not UTF-8 would become another name without a word.
  if (!isUtf8(name)) return true;
  return REFUSED.test(name) || name.endsWith('.') || name.endsWith(' ') || RESERVED.test(name);
}
