/**
 * Parses the answer of a WebDAV server about a folder and its contents. Parsing is strict: an answer that is cut short,
 * or another document, must not pass for a short list. The webdav package accepts both, and reads only the first of
 * several parts about a name, so it is not used.
 */
import { EndlessAnswer, HollowAnswer } from '../bounds.ts';

/** An error that a list reports for one name instead of its properties. */
export interface DavRefusal {
  readonly status: number;
  /** The server's sentence about it. */
  readonly words: string | undefined;
}

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

function entryOf(response: Element): DavEntry | undefined {
  const href = child(response, 'href')?.text.trim();
  const path = href === undefined ? undefined : pathOf(href);
  const parts = response.children.filter(({ name }) => name === 'propstat');
  const good = parts.filter((part) => isSuccess(statusIn(part)));
  if (path === undefined) return undefined;
  const refused = good.length === 0 ? refusalIn(response, parts) : undefined;
  if (good.length === 0 && refused === undefined) return undefined;
  const property = (name: string): Element | undefined =>
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
function refusalIn(response: Element, parts: readonly Element[]): DavRefusal | undefined {
  const [status] = [response, ...parts].map(statusIn).filter((found) => found !== undefined);
  if (status === undefined || isSuccess(status)) return undefined;
  const words = child(response, 'responsedescription')?.text.slice(0, LONGEST_WORDS);
  // A copy: a part of a text would keep all of it.
  return { status, words: words === undefined ? undefined : Buffer.from(words).toString() };
}

function isSuccess(status: number | undefined): boolean {
  return status !== undefined && status >= 200 && status < 300;
}

function statusIn(element: Element): number | undefined {
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

interface Element {
  /** Without its namespace prefix. */
  readonly name: string;
  readonly children: Element[];
  text: string;
}

function child({ children }: Element, name: string): Element | undefined {
  return children.find((element) => element.name === name);
}

/** The next token of a document. Document types are skipped: neither their entities nor external files are used. */
const token = new RegExp(
  [
    String.raw`<\?[\s\S]*?\?>`,
    String.raw`<!--[\s\S]*?-->`,
    String.raw`<!DOCTYPE\s(?:[^"'<>[\]]|"[^"]*"|'[^']*')*(?:\[(?:[^"'\]]|"[^"]*"|'[^']*')*\]\s*)?>`,
    String.raw`<!\[CDATA\[([\s\S]*?)\]\]>`,
    String.raw`<(\/?)(?:[^\s<>\/='":!?]+:)?([^\s<>\/='":!?]+)((?:\s+[^\s<>\/='"]+\s*=\s*(?:"[^"<]*"|'[^'<]*'))*)\s*(\/?)>`,
    '([^<]+)',
  ].join('|'),
  'y',
);

/** Limits far above normal: the properties of a file take six nested levels and a dozen elements. */
const DEEPEST = 64;
const MOST_ELEMENTS = 2 ** 21;
const MOST_OF_ONE = 4_096;
/** Characters of a sentence that is told. */
const LONGEST_WORDS = 1_000;
/** Characters: of all that is said about one name, and of what stands between two marks. */
const LONGEST_PART = 2 ** 20;
/** Taken apart at once: what is not whole yet is looked at anew with each piece. */
const PIECE = 32 * 1024;

/** Reads an answer while it comes, and keeps of it what is being said about one name. */
export class MultistatusReader {
  readonly #take: (entry: DavEntry) => void;
  /** What has come and was not taken apart. */
  #text = '';
  #isFirst = true;
  /** The document, the outermost element, and so on. */
  readonly #open: Element[] = [{ name: '', children: [], text: '' }];
  #roots = 0;
  #elements = 0;
  /** Of the name that is being told about. */
  #ofOne = 0;
  #characters = 0;
  #isBroken = false;

  constructor(take: (entry: DavEntry) => void) {
    this.#take = take;
  }

  /** @throws {EndlessAnswer | HollowAnswer} */
  push(text: string): void {
    if (this.#isBroken) return;
    this.#text += text;
    if (this.#text.length >= PIECE) this.#takeApart(false);
  }

  /** To be asked once, at the end: whether the document is well-formed, and an answer of its kind. */
  isWhole(): boolean {
    this.#takeApart(true);
    return !this.#isBroken && this.#text === '' && this.#open.length === 1 && this.#roots === 1;
  }

  #takeApart(isEnd: boolean): void {
    const text = this.#text;
    token.lastIndex = this.#isFirst && text.startsWith('\uFEFF') ? 1 : 0;
    if (text !== '') this.#isFirst = false;
    let at = token.lastIndex;
    while (at < text.length && !this.#isBroken) {
      const found = token.exec(text);
      if (found === null) break;
      // More of the same text may come, such as the other half of an entity.
      if (found[6] !== undefined && token.lastIndex === text.length && !isEnd) break;
      at = token.lastIndex;
      this.#isBroken = !this.#add(found);
    }
    // A copy: a part of the text would keep all of it.
    this.#text = at === 0 ? text : Buffer.from(text.slice(at), 'utf16le').toString('utf16le');
    if (this.#text.length > LONGEST_PART) throw new EndlessAnswer(LONGEST_PART);
  }

  /** False where it does not belong there. */
  #add([, cdata, end, name, , empty, words]: RegExpExecArray): boolean {
    const inner = this.#open.at(-1);
    if (inner === undefined) return false;
    const said = cdata ?? (words === undefined ? undefined : unescaped(words));
    if (said !== undefined) return this.#say(inner, said);
    if (name === undefined) return true;
    if (end === '/') return this.#close(name);
    this.#elements += 1;
    this.#ofOne += 1;
    const depth = this.#open.length;
    if (depth > DEEPEST) throw new HollowAnswer(`nested more than ${DEEPEST} deep`);
    if (this.#elements > MOST_ELEMENTS) throw new HollowAnswer(`made of more than ${MOST_ELEMENTS} parts`);
    if (this.#ofOne > MOST_OF_ONE)
      throw new HollowAnswer(`made of more than ${MOST_OF_ONE} parts for one name`);
    if (depth === 1) {
      this.#roots += 1;
      if (name !== 'multistatus') return false;
    }
    const element: Element = { name, children: [], text: '' };
    // What is said of a name is kept until it is whole, and nothing else.
    if (depth > 2) inner.children.push(element);
    else this.#beginOne();
    this.#open.push(element);
    return empty !== '/' || this.#close(name);
  }

  #say(inner: Element, text: string): boolean {
    const depth = this.#open.length;
    if (depth === 1) return text.trim() === '';
    if (depth === 2) return true;
    this.#characters += text.length;
    if (this.#characters > LONGEST_PART) throw new EndlessAnswer(LONGEST_PART);
    inner.text += text;
    return true;
  }

  #close(name: string): boolean {
    if (this.#open.length === 1) return false;
    const closed = this.#open.pop();
    if (closed?.name !== name) return false;
    if (this.#open.length !== 2 || name !== 'response') return true;
    const entry = entryOf(closed);
    if (entry === undefined) return false;
    this.#take(entry);
    this.#beginOne();
    return true;
  }

  #beginOne(): void {
    this.#ofOne = 0;
    this.#characters = 0;
  }
}

const entities: Readonly<Record<string, string>> = { lt: '<', gt: '>', amp: '&', quot: '"', apos: "'" };

function unescaped(text: string): string {
  return text.replaceAll(/&(?:#x([0-9a-f]{1,6})|#(\d{1,7})|(\w+));/gi, (whole, hex, decimal, name) => {
    if (name !== undefined) return entities[name as string] ?? whole;
    const code = hex === undefined ? Number(decimal) : Number.parseInt(hex as string, 16);
    return code <= 0x10_ff_ff ? String.fromCodePoint(code) : whole;
  });
}
