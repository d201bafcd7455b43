/** Errors for what a WebDAV server refuses or leaves out. */
import { DestinationError } from '../../base/errors.ts';
import type { DestinationKind } from '../../base/errors.ts';
import { failure, meaningOfStatus, storesWords } from '../http-failure.ts';
import type { DavEntry, DavRefusal } from './multistatus.ts';

export function isKind(error: unknown, kind: DestinationKind): boolean {
  return error instanceof DestinationError && error.kind === kind;
}

/** @param refusal with what the server says itself */
export function refused(url: string, name: string, refusal: unknown): DestinationError {
  const { what = 'the server refuses', kind = 'denied' } = refusal instanceof DestinationError ? refusal : {};
  return new DestinationError(kind, `Cannot create the folder ${name} in ${url}: ${what}`, {
    op: 'store',
    what,
    hint: 'Check the permissions of the account there.',
    details: { url, status: 403 },
    cause: refusal,
  });
}

/** @param whole the answer arrived completely */
export function senseless(url: string, op: string, what: string, whole = true): DestinationError {
  return new DestinationError('corrupt-reply', `${url}: ${what}`, {
    op,
    hint: 'Check that no proxy or network sign-in page answers instead of the server.',
    retry: 'now',
    details: { url, ...(whole ? { whole } : {}) },
  });
}

/** The error for a name in a list, about which the server refuses to tell although it matters. */
export function withheld(
  url: string,
  op: string,
  name: string,
  { status, words }: DavRefusal,
): DestinationError {
  const told = { status, code: undefined, words: storesWords(words), retryAfterMs: undefined };
  const action = { op, url, ...(name === '' ? {} : { key: name }) };
  return failure(meaningOfStatus(status), action, undefined, told);
}

/** The error for an object whose size or time the server does not tell. */
export function untold(url: string, name: string, { size, modifiedMs }: DavEntry): DestinationError {
  const lacks = [
    ...(size === undefined ? ['how large it is (getcontentlength)'] : []),
    ...(modifiedMs === undefined ? ['when it was stored (getlastmodified)'] : []),
  ].join(', nor ');
  return new DestinationError(
    'unsupported',
    `The server does not say of ${name} in ${url} ${lacks}, which backups need`,
    {
      op: 'inspect',
      hint: 'Enable these properties in the settings of the server, or use another one.',
      details: { key: name, url },
    },
  );
}

/** Whether the name does not exist, or no longer does. */
export function isAbsence(refusal: DavRefusal | undefined): boolean {
  return refusal?.status === 404 || refusal?.status === 410;
}
