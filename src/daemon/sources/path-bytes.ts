import { bytesOfText } from '../../base/byte-path.ts';

/** A path as messages to an engine carry it: Latin-1, one character for each byte. */
export function pathToBytes(path: string): string {
  return bytesOfText(path);
}
