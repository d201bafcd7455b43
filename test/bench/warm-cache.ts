/** Reading everything once, so that a timed run finds its data in memory and not on a busy disk. */

import { closeSync, lstatSync, openSync, readSync, readdirSync } from 'node:fs';
import { asByteString, bytesOfText, joinBytes } from '../../src/base/byte-path.ts';
import { fsPath } from '../../src/base/tree-path.ts';
import type { ByteString } from '../../src/base/byte-path.ts';
import { errnoOf } from '../../src/base/errors.ts';

export interface Contents {
  readonly files: number;
  readonly directories: number;
  /** Sum of the sizes of all regular files. */
  readonly bytes: number;
  readonly unreadable: number;
}

const block = Buffer.alloc(1024 * 1024);

/** Reads all regular files of a tree, or the one file, and counts. */
export function readAll(start: string): Contents {
  return readEntries(start, readFile);
}

/** Counts without reading. */
export function countAll(start: string): Contents {
  return readEntries(start, (file) => lstatSync(fsPath(file)).size);
}

function readEntries(start: string, sizeOf: (file: ByteString) => number): Contents {
  let [files, directories, bytes, unreadable] = [0, 0, 0, 0];
  const first = bytesOfText(start);
  const waiting: ByteString[] = [];
  const attempt = (action: () => void): void => {
    try {
      action();
    } catch (error) {
      if (errnoOf(error) !== 'EACCES') throw error;
      unreadable += 1;
    }
  };
  const count = (file: ByteString): void => {
    files += 1;
    attempt(() => {
      bytes += sizeOf(file);
    });
  };
  if (lstatSync(start).isDirectory()) waiting.push(first);
  else count(first);
  for (let directory = waiting.pop(); directory !== undefined; directory = waiting.pop()) {
    directories += 1;
    const here = directory;
    attempt(() => {
      for (const entry of readdirSync(fsPath(here), { withFileTypes: true, encoding: 'latin1' })) {
        const child = joinBytes(here, asByteString(entry.name));
        if (entry.isDirectory()) waiting.push(child);
        else if (entry.isFile()) count(child);
      }
    });
  }
  return { files, directories, bytes, unreadable };
}

function readFile(file: ByteString): number {
  const descriptor = openSync(fsPath(file), 'r');
  try {
    let size = 0;
    for (;;) {
      const length = readSync(descriptor, block, 0, block.length, null);
      if (length === 0) return size;
      size += length;
    }
  } finally {
    closeSync(descriptor);
  }
}
