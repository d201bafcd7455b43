/** Comparing the bytes of two files. */

import { closeSync, openSync, readSync } from 'node:fs';
import { fsPath } from '../../src/base/tree-path.ts';
import type { ByteString } from '../../src/base/byte-path.ts';

const blockSize = 1024 * 1024;
const [leftBlock, rightBlock] = [Buffer.alloc(blockSize), Buffer.alloc(blockSize)];

/** Offset of the first byte that differs, or where the shorter file ends; undefined when they are the same. */
export function firstDifference(left: ByteString, right: ByteString): number | undefined {
  const leftFile = openSync(fsPath(left), 'r');
  try {
    const rightFile = openSync(fsPath(right), 'r');
    try {
      return compareOpened(leftFile, rightFile);
    } finally {
      closeSync(rightFile);
    }
  } finally {
    closeSync(leftFile);
  }
}

function compareOpened(left: number, right: number): number | undefined {
  for (let offset = 0; ; offset += blockSize) {
    const leftLength = readFully(left, leftBlock, offset);
    const rightLength = readFully(right, rightBlock, offset);
    const common = Math.min(leftLength, rightLength);
    if (Buffer.compare(leftBlock.subarray(0, common), rightBlock.subarray(0, common)) !== 0) {
      let index = 0;
      while (leftBlock[index] === rightBlock[index]) index += 1;
      return offset + index;
    }
    if (leftLength !== rightLength) return offset + common;
    if (leftLength < blockSize) return undefined;
  }
}

/** Reads until the block is full or the file ends; returns the bytes read. */
function readFully(file: number, block: Buffer, offset: number): number {
  let filled = 0;
  while (filled < block.length) {
    const length = readSync(file, block, filled, block.length - filled, offset + filled);
    if (length === 0) break;
    filled += length;
  }
  return filled;
}
