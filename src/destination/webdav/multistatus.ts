/**
 * Parses the answer of a WebDAV server about a folder and its contents. Parsing is strict: an answer that is cut short,
 * or another document, must not pass for a short list. The webdav package accepts both, and reads only the first of
 * several parts about a name, so it is not used.
 */

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

/** Undefined when the text is not a complete answer. */
export function parseMultistatus(text: string): readonly DavEntry[] | undefined {
  const root = parseXml(text);
  if (root?.name !== 'multistatus') return undefined;
  const entries: DavEntry[] = [];
  for (const response of root.children.filter(({ name }) => name === 'response')) {
    const entry = entryOf(response);
    if (entry === undefined) return undefined;
    entries.push(entry);
  }
  return entries;
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
  return { status, words: child(response, 'responsedescription')?.text };
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

/** The root element; undefined unless the document is well-formed to its end. */
function parseXml(text: string): Element | undefined {
  const document: Element = { name: '', children: [], text: '' };
  const open: Element[] = [document];
  let elements = 0;
  token.lastIndex = text.startsWith('\uFEFF') ? 1 : 0;
  while (token.lastIndex < text.length) {
    const found = token.exec(text);
    if (found === null) return undefined;
    const [, cdata, end, name, , empty, words] = found;
    const inner = open.at(-1);
    if (inner === undefined) return undefined;
    if (cdata !== undefined) inner.text += cdata;
    else if (words !== undefined) inner.text += unescaped(words);
    else if (name === undefined) continue;
    else if (end === '/') {
      if (open.length === 1 || open.pop()?.name !== name) return undefined;
    } else {
      elements += 1;
      if (open.length > DEEPEST || elements > MOST_ELEMENTS) return undefined;
      const element = { name, children: [], text: '' };
      inner.children.push(element);
      if (empty !== '/') open.push(element);
    }
  }
  const isWhole = open.length === 1 && document.children.length === 1 && document.text.trim() === '';
  return isWhole ? document.children[0] : undefined;
}

const entities: Readonly<Record<string, string>> = { lt: '<', gt: '>', amp: '&', quot: '"', apos: "'" };

function unescaped(text: string): string {
  return text.replaceAll(/&(?:#x([0-9a-f]{1,6})|#(\d{1,7})|(\w+));/gi, (whole, hex, decimal, name) => {
    if (name !== undefined) return entities[name as string] ?? whole;
    const code = hex === undefined ? Number(decimal) : Number.parseInt(hex as string, 16);
    return code <= 0x10_ff_ff ? String.fromCodePoint(code) : whole;
  });
}
