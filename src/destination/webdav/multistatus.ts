/**
 * What the answer of a WebDAV server says about a folder and its contents. The webdav package accepts an answer that is
 * cut short, and reads only the first of several parts about a name, so it is not used.
 */
import { RecordReader, child, copyOf, type XmlElement } from '../xml-records.ts';

/** An error that a list reports for one name instead of its properties. */
export interface DavRefusal {
  readonly status: number;
  /** The server's sentence about it. */
  readonly words: string | undefined;
}

/** Characters of a sentence that is told. */
const LONGEST_WORDS = 1_000;

export interface DavEntry {
  /** Path as the server writes it, decoded, without a trailing slash. */
  readonly path: string;
  readonly isFolder: boolean;
  /** Undefined when the server does not say, as is the time. */
  readonly size: number | undefined;
  readonly modifiedMs: number | undefined;
  /** When set, the other fields except the path are meaningless. */
  readonly refused?: DavRefusal;
}

/** Reads an answer while it comes, and hands on what it says about each name. */
export function multistatusReader(take: (entry: DavEntry) => void): RecordReader {
  return new RecordReader({ path: ['multistatus', 'response'], fields: [] }, (response) => {
    const entry = entryOf(response);
    if (entry !== undefined) take(entry);
    return entry !== undefined;
  });
}

function entryOf(response: XmlElement): DavEntry | undefined {
  const href = child(response, 'href')?.text.trim();
  const path = href === undefined ? undefined : pathOf(href);
  const parts = response.children.filter(({ name }) => name === 'propstat');
  const good = parts.filter((part) => isSuccess(statusIn(part)));
  if (path === undefined) return undefined;
  const refused = good.length === 0 ? refusalIn(response, parts) : undefined;
  if (good.length === 0 && refused === undefined) return undefined;
  const property = (name: string): XmlElement | undefined =>
    good.flatMap((part) => child(part, 'prop')?.children ?? []).find((prop) => prop.name === name);
  const length = property('getcontentlength')?.text.trim() ?? '';
  const modifiedMs = Date.parse(property('getlastmodified')?.text ?? '');
  return {
    path,
    isFolder: property('resourcetype')?.children.some(({ name }) => name === 'collection') === true,
    size: /^\d{1,15}$/.test(length) ? Number(length) : undefined,
    modifiedMs: Number.isNaN(modifiedMs) ? undefined : modifiedMs,
    ...(refused === undefined ? {} : { refused }),
  };
}

/** The error for a name: a status instead of properties, or one that is not a success for all of them. */
function refusalIn(response: XmlElement, parts: readonly XmlElement[]): DavRefusal | undefined {
  const [status] = [response, ...parts].map(statusIn).filter((found) => found !== undefined);
  if (status === undefined || isSuccess(status)) return undefined;
  const words = child(response, 'responsedescription')?.text.slice(0, LONGEST_WORDS);
  return { status, words: words === undefined ? undefined : copyOf(words) };
}

function isSuccess(status: number | undefined): boolean {
  return status !== undefined && status >= 200 && status < 300;
}

function statusIn(element: XmlElement): number | undefined {
  const [, status] = /\s(\d{3})(?:\s|$)/.exec(child(element, 'status')?.text ?? '') ?? [];
  return status === undefined ? undefined : Number(status);
}

/** The decoded path of an href, which may be a path or a whole URL. */
function pathOf(href: string): string {
  const path = href.replace(/^[a-z][a-z0-9+.-]*:\/\/[^/]*/i, '');
  return path.split('/').map(decoded).join('/').replace(/\/+$/, '');
}

/**
 * A name decoded. One that is not encoded properly, or contains an encoded slash, stays as written: it cannot be one of
 * ours.
 */
function decoded(name: string): string {
  try {
    const text = decodeURIComponent(name);
    return text.includes('/') ? name : text;
  } catch {
    return name;
  }
}
