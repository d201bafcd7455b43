/** Paths for people. */

import { textOfBytes } from '../../src/base/byte-path.ts';
import type { ByteString } from '../../src/base/byte-path.ts';

/** Control, bidirectional and backslash characters as escapes, bytes that are not UTF-8 as U+FFFD. */
export function shownPath(bytes: ByteString): string {
  // oxlint-disable-next-line no-control-regex -- control characters are what must be escaped
  return textOfBytes(bytes).replaceAll(/[\u0000-\u001f\u007f\u202a-\u202e\\]/g, (character) =>
    character === '\\' ? '\\\\' : `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}
