/** Reads the Range header of RFC 9110, limited to a single range of bytes. */

export interface ContentRange {
  readonly start: number;
  /** Position of the first byte after the range. */
  readonly end: number;
}

/**
 * The requested range of `size` bytes; undefined when the whole content is to be sent, which also answers other units,
 * several ranges and malformed headers.
 */
export function readRange(
  header: string | undefined,
  size: number,
): ContentRange | 'unsatisfiable' | undefined {
  const match = /^bytes\s*=\s*(?:(\d+)\s*)?-\s*(?:(\d+)\s*)?$/i.exec(header ?? '');
  if (match === null) return undefined;
  const [, first = '', last = ''] = match;
  if (first === '') {
    if (last === '') return undefined;
    const length = Math.min(Number(last), size);
    return length === 0 ? 'unsatisfiable' : { start: size - length, end: size };
  }
  const start = Number(first);
  const end = last === '' ? size : Math.min(Number(last) + 1, size);
  if (last !== '' && Number(last) < start) return undefined;
  return start >= size ? 'unsatisfiable' : { start, end };
}
