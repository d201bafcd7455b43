/** Paths for people. */

import { textOfBytes } from '../../src/base/byte-path.ts';
import type { ByteString } from '../../src/base/byte-path.ts';

/** Control, bidirectional and backslash characters as escapes, bytes that are not UTF-8 as U+FFFD. */
export function shownPath(bytes: ByteString): string {
  return textOfBytes(bytes).replaceAll(/[[\p{Cc}&&\p{ASCII}]\u202a-\u202e\\]/gv, (character) =>
    character === '\\' ? '\\\\' : `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}
