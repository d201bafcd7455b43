/** Removing a tree that `fs.rm` cannot: paths beyond PATH_MAX and, for an ordinary user, directories without rights. */

import { chmodSync, lstatSync, readdirSync, rmdirSync, unlinkSync } from 'node:fs';
import path from 'node:path';
import { asByteString, bytesOfText, joinBytes } from '../../src/base/byte-path.ts';
import { fsPath, treePath } from '../../src/base/tree-path.ts';
import type { ByteString } from '../../src/base/byte-path.ts';
import { insideDirectory } from './long-path.ts';

/** Removes `directory` and everything below it, whatever the modes. A directory that does not exist is fine. */
export function removeTree(directory: string): void {
  const absolute = path.resolve(directory);
  if (lstatSync(absolute, { throwIfNoEntry: false }) === undefined) return;
  removeDirectory(treePath(path.dirname(absolute)), bytesOfText(path.basename(absolute)));
}

/** Removes the directory `name` in `parent` and everything below it. */
export function removeDirectory(parent: ByteString, name: ByteString): void {
  const here = fsPath(joinBytes(parent, name));
  if (process.getuid?.() !== 0) chmodSync(here, 0o700);
  insideDirectory(parent, name, (reachable) => {
    for (const entry of readdirSync(fsPath(reachable), { withFileTypes: true, encoding: 'latin1' })) {
      const child = asByteString(entry.name);
      if (entry.isDirectory()) removeDirectory(reachable, child);
      else unlinkSync(fsPath(joinBytes(reachable, child)));
    }
  });
  rmdirSync(here);
}
