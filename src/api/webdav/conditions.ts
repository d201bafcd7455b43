/** Evaluates the conditions of RFC 9110 for sending a file, or a part of it. */
import type { IncomingHttpHeaders } from 'node:http';
import { readRange, type ContentRange } from '../wire/headers.ts';
import { httpDate } from './multistatus.ts';

/** What distinguishes one content from another. */
export interface Validators {
  readonly etag: string | undefined;
  /** Undefined where another content may have the same time. */
  readonly modifiedMs: number | undefined;
}

/** The status to answer instead of the file; undefined to send the file. */
export function conditionOutcome(
  headers: IncomingHttpHeaders,
  validators: Validators,
): 304 | 412 | undefined {
  const ifMatch = headers['if-match'];
  const ifNoneMatch = headers['if-none-match'];
  if (ifMatch !== undefined && !names(ifMatch, validators.etag)) return 412;
  if (ifNoneMatch !== undefined) return names(ifNoneMatch, validators.etag) ? 304 : undefined;
  // Requires exactly the time that was sent before: a file whose time went back has changed as well.
  return isTime(headers['if-modified-since'], validators) ? 304 : undefined;
}

/** As `readRange`, but undefined when the client's part belongs to another content. */
export function conditionalRange(
  headers: IncomingHttpHeaders,
  size: number,
  validators: Validators,
): ContentRange | 'unsatisfiable' | undefined {
  const ifRange = headers['if-range'];
  if (ifRange !== undefined && ifRange !== validators.etag && !isTime(String(ifRange), validators))
    return undefined;
  return readRange(headers.range, size);
}

function names(list: string, etag: string | undefined): boolean {
  if (list.trim() === '*') return true;
  return list.split(',').some((one) => one.trim().replace(/^W\//, '') === etag);
}

function isTime(date: string | undefined, { modifiedMs }: Validators): boolean {
  return date !== undefined && date === httpDate(modifiedMs);
}
