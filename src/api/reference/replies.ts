/** Shows what a request is answered: the fields of its data, its headers, and the error codes at each status. */
import { ERROR_CODES } from '../wire/error-codes.ts';
import type { Json } from './api-document.ts';
import {
  code,
  entries,
  field,
  inline,
  list,
  paragraphs,
  prose,
  type Reader,
  row,
  table,
  text,
} from './document-reader.ts';
import type { DocumentedOperation } from './operations.ts';
import { examples, fields, typeOf } from './schema-tables.ts';

/** What the replies of the operations have in common, and which operations give which code. */
export interface KnownReplies {
  /** Headers of every reply, by name. They are shown once. */
  readonly headers: ReadonlyMap<string, Json>;
  readonly givenBy: ReadonlyMap<string, readonly DocumentedOperation[]>;
  /** Whether so many operations give the code that it tells nothing about one of them. */
  readonly isCommon: (code: string) => boolean;
}

export function knownReplies(read: Reader, operations: readonly DocumentedOperation[]): KnownReplies {
  const givenBy = new Map<string, DocumentedOperation[]>();
  let headers: Map<string, Json> | undefined;
  for (const one of operations) {
    const replies = entries(field(one.operation, 'responses')).map(([, reply]) => read(reply));
    for (const name of new Set(replies.flatMap((reply) => codesOf(read, reply))))
      givenBy.set(name, [...(givenBy.get(name) ?? []), one]);
    for (const reply of replies) {
      const own = new Map(entries(field(reply, 'headers')));
      // What is refused before the request is understood has none.
      if (own.size === 0) continue;
      headers = new Map([...(headers ?? own)].filter(([name]) => own.has(name)));
    }
  }
  const isCommon = (name: string): boolean => (givenBy.get(name)?.length ?? 0) > operations.length / 2;
  return { headers: headers ?? new Map<string, Json>(), givenBy, isCommon };
}

/** The codes that a reply of an error can have: what its schema allows for `error.code`. */
function codesOf(read: Reader, reply: Json): readonly string[] {
  return entries(field(reply, 'content')).flatMap(([, content]) => {
    const schema = read(content, 'schema');
    const parts = [schema, ...list(field(schema, 'allOf')).map((one) => read(one))];
    return parts.flatMap((part) => {
      const allowed = read(part, 'properties', 'error', 'properties', 'code');
      const names = [field(allowed, 'const'), ...list(field(allowed, 'enum'))];
      return names.filter((name) => typeof name === 'string');
    });
  });
}

export function repliesOf(read: Reader, operation: Json, known: KnownReplies): string {
  const replies = entries(field(operation, 'responses')).map(([status, reply]): [string, Json] => [
    status,
    read(reply),
  ]);
  const isGood = ([status]: [string, Json]): boolean => status.startsWith('2');
  const good = replies.filter(isGood).map(([status, reply]) => goodReply(read, status, reply, known));
  const bad = replies.filter((one) => !isGood(one));
  const errors = bad.map(([status, reply]) => errorRow(read, status, reply, known));
  const shown = bad.flatMap(([, reply]) => entries(field(reply, 'content')).map(([, one]) => examples(one)));
  if (errors.length === 0) return good.join('');
  return `${good.join('')}<h3>Errors</h3>${table(['Status', 'Code', 'Meaning'], errors)}${shown.join('')}`;
}

function goodReply(read: Reader, status: string, reply: Json, known: KnownReplies): string {
  const [title = '', ...more] = paragraphs(field(reply, 'description'));
  const bodies = entries(field(reply, 'content')).map(([type, content]) => {
    const schema = read(content, 'schema');
    // What the lines of an event stream carry says more than that it is text.
    const events = read(schema, 'contentSchema');
    const data = events ?? read(schema, 'properties', 'data') ?? schema;
    const lead =
      events === null ? '' : prose(field(schema, 'description')) + prose(field(events, 'description'));
    return `<p class="quiet">${code(type)}</p>${lead}${fields(read, data, 'always')}${examples(content)}`;
  });
  return `<h3>${text(status)}: ${inline(title)}</h3>${prose(more.join('\n\n'))}${ownHeaders(read, reply, known)}${bodies.join('')}`;
}

/** The headers that a reply has besides those of every reply. */
function ownHeaders(read: Reader, reply: Json, known: KnownReplies): string {
  const own = entries(field(reply, 'headers')).filter(([name]) => !known.headers.has(name));
  return headerTable(read, new Map(own));
}

export function headerTable(read: Reader, headers: ReadonlyMap<string, Json>): string {
  const rows = [...headers].map(([name, header]) => {
    const presence = read(header, 'required') === true ? 'always' : 'optional';
    return row([
      code(name),
      typeOf(read, read(header, 'schema')),
      presence,
      inline(read(header, 'description')),
    ]);
  });
  return rows.length === 0 ? '' : table(['Header', 'Type', 'Presence', 'Meaning'], rows);
}

/** What most operations can answer is left out of the search, which would find them all. */
function errorRow(read: Reader, status: string, reply: Json, known: KnownReplies): string {
  const codes = codesOf(read, reply);
  const headers = entries(field(reply, 'headers'))
    .filter(([name]) => !known.headers.has(name))
    .map(([name, header]) => `<br>${code(name)}: ${inline(read(header, 'description'))}`);
  const isCommon = codes.every((name) => known.isCommon(name));
  return row(
    [text(status), codes.map(codeLink).join('<br>'), inline(field(reply, 'description')) + headers.join('')],
    isCommon ? 'data-common' : '',
  );
}

function codeLink(name: string): string {
  return `<a href="#error-${text(name)}">${code(name)}</a>`;
}

/** Codes that requests are answered with, and those that only jobs have; each with the requests that can get it. */
export function errorCodes({ givenBy, isCommon }: KnownReplies): string {
  const rows = Object.entries(ERROR_CODES)
    .filter(([name, { status }]) => status === null || givenBy.has(name))
    .map(([name, { status, description }]) =>
      row(
        [
          code(name),
          status === null ? 'in jobs' : String(status),
          text(description),
          isCommon(name) ? 'most requests' : (givenBy.get(name) ?? []).map(operationLink).join('<br>'),
        ],
        `id="error-${text(name)}"`,
      ),
    );
  return table(['Code', 'Status', 'Meaning', 'Given by'], rows);
}

function operationLink({ id, method, path }: DocumentedOperation): string {
  return `<a href="#${id}">${code(`${method.toUpperCase()} ${path}`)}</a>`;
}
