/** Turns byte ranges into their place in an object of a known size. */
import { DestinationError } from '../base/errors.ts';
import { largestObject } from './bounds.ts';
import type { ByteRange } from './destination.ts';

/** A range counted from the start of the object, checked to lie within it. */
export interface Extent {
  readonly start: number;
  readonly length: number;
}

/**
 * The extent that `range` means in an object of `size` bytes; without a range it is the whole object. Throws
 * `corrupt-reply` when the range reaches beyond either end or is larger than any object, and `unsupported` when it is
 * not a valid range.
 */
export function extentOf(range: ByteRange | undefined, size: number, key: string): Extent {
  if (range === undefined) return within({ start: 0, length: size }, key);
  const { offset, length } = range;
  const details = { key, offset, length, size };
  if (!Number.isSafeInteger(offset) || !Number.isSafeInteger(length) || length < 0) {
    throw new DestinationError('unsupported', `Not a byte range: ${length} bytes from ${offset}`, {
      op: 'get',
      hint: 'Offset and length must be whole numbers. Please report this as a bug.',
      details,
    });
  }
  const start = offset < 0 ? size + offset : offset;
  if (start < 0 || start + length > size) {
    const what = `${length} bytes from ${offset} were asked for, but the object has ${size}`;
    throw new DestinationError('corrupt-reply', `${key} is too short: ${what}`, {
      op: 'get',
      hint: 'The object is damaged or incomplete. Run a check of the repository.',
      details,
    });
  }
  return within({ start, length }, key);
}

function within(extent: Extent, key: string): Extent {
  const { length } = extent;
  if (length <= largestObject(key)) return extent;
  throw new DestinationError(
    'corrupt-reply',
    `${key} is said to have ${length} bytes, more than any object of its kind has`,
    {
      op: 'get',
      hint: 'Check that nothing else stores files in the destination, then run a check of the repository.',
      details: { key, length },
    },
  );
}

/** A copy of a part of an object that came whole: a view would keep all of it in memory. */
export function partOf(
  whole: Buffer,
  { start, end }: { readonly start: number; readonly end: number },
): Buffer {
  return Buffer.from(new Uint8Array(whole.subarray(start, end)).buffer);
}
