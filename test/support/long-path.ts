/** Reaching entries whose path is longer than one system call may take (PATH_MAX, 4,096 bytes on Linux). */

import { closeSync, constants, openSync } from 'node:fs';
import { asByteString, joinBytes } from '../../src/base/byte-path.ts';
import { fsPath } from '../../src/base/tree-path.ts';
import type { ByteString } from '../../src/base/byte-path.ts';

/** Leaves room below PATH_MAX for one more name of 255 bytes. */
const comfortable = 3800;

/**
 * Calls `visit` with a path that reaches the directory `name` in `parent`: their join, or, when that gets too long and
 * the system is Linux, `/proc/self/fd/N` of the opened directory, which stays valid during the visit.
 */
export function insideDirectory<T>(
  parent: ByteString,
  name: ByteString,
  visit: (reachable: ByteString) => T,
): T {
  const path = joinBytes(parent, name);
  if (path.length <= comfortable || process.platform !== 'linux') return visit(path);
  const descriptor = openSync(
    fsPath(path),
    constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW,
  );
  try {
    return visit(asByteString(`/proc/self/fd/${descriptor}`));
  } finally {
    closeSync(descriptor);
  }
}
