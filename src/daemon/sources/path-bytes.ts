import { treePath } from '../../base/tree-path.ts';

/** A path in the form of messages to an engine: Latin-1, one character for each byte. */
export function pathToBytes(path: string): string {
  return treePath(path);
}
