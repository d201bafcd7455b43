/**
 * Reads XML answers that consist of many records of the same form, such as the objects of a list, while they come: no
 * more is kept than what is being said about one record. Libraries take a page apart as a whole, which costs many times
 * its size. Parsing is strict: an answer that is cut short, or another document, must not pass for a short list.
 */
import type { Readable } from 'node:stream';
import { EndlessAnswer, HollowAnswer } from './bounds.ts';
import type { Moving } from './stall.ts';

export interface XmlElement {
  /** Without its namespace prefix. */
  readonly name: string;
  /** As written. */
  readonly attributes: string;
  readonly children: XmlElement[];
  text: string;
}

export function child({ children }: XmlElement, name: string): XmlElement | undefined {
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
/** Characters: of all that is said about one record, and of what stands between two marks. */
const LONGEST_PART = 2 ** 20;
/** Taken apart at once: what is not whole yet is looked at anew with each piece. */
const PIECE = 32 * 1024;

export interface RecordForm {
  /** Names of elements, from the outermost one to that of a record. */
  readonly path: readonly string[];
  /** Elements directly below the outermost one whose text is kept. */
  readonly fields: readonly string[];
}

/** Reads an answer while it comes, and keeps of it what is being said about one record. */
export class RecordReader {
  readonly #form: RecordForm;
  readonly #take: (record: XmlElement) => boolean;
  readonly #fields = new Map<string, string>();
  /** What has come and was not taken apart. */
  #text = '';
  #isFirst = true;
  /** The document, the outermost element, and so on. */
  readonly #open: XmlElement[] = [elementOf('', '')];
  #isInRecord = false;
  #roots = 0;
  #elements = 0;
  /** Of the record that is being told about. */
  #ofOne = 0;
  #characters = 0;
  #isBroken = false;

  /** @param take called with each record when it is whole; false where it is none, and neither is the document */
  constructor(form: RecordForm, take: (record: XmlElement) => boolean) {
    this.#form = form;
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

  /** What was said beside the records; undefined where nothing was. */
  field(name: string): string | undefined {
    return this.#fields.get(name);
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
    this.#text = at === 0 ? text : copyOf(text.slice(at));
    if (this.#text.length > LONGEST_PART) throw new EndlessAnswer(LONGEST_PART);
  }

  /** False where it does not belong there. */
  #add([, cdata, end, name, attributes = '', empty, words]: RegExpExecArray): boolean {
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
      if (name !== this.#form.path[0]) return false;
    }
    const element = elementOf(name, attributes);
    // What is said of a record is kept until it is whole, and nothing else.
    if (this.#isInRecord) inner.children.push(element);
    else if (depth <= 2) this.#beginOne();
    this.#open.push(element);
    this.#isInRecord ||= this.#isRecord();
    return empty !== '/' || this.#close(name);
  }

  /** Whether the innermost element is one, by its place. */
  #isRecord(): boolean {
    const { path } = this.#form;
    return (
      this.#open.length === path.length + 1 && path.every((name, at) => this.#open[at + 1]?.name === name)
    );
  }

  #say(inner: XmlElement, text: string): boolean {
    const depth = this.#open.length;
    if (depth === 1) return text.trim() === '';
    if (!this.#isInRecord && !this.#isField()) return true;
    this.#characters += text.length;
    if (this.#characters > LONGEST_PART) throw new EndlessAnswer(LONGEST_PART);
    inner.text += text;
    return true;
  }

  #isField(): boolean {
    return this.#open.length === 3 && this.#form.fields.includes(this.#open[2]?.name ?? '');
  }

  #close(name: string): boolean {
    if (this.#open.length === 1) return false;
    const isRecord = this.#isInRecord && this.#open.length === this.#form.path.length + 1;
    const isField = !this.#isInRecord && this.#isField();
    const closed = this.#open.pop();
    if (closed?.name !== name) return false;
    if (isField) this.#fields.set(name, copyOf(closed.text));
    if (!isRecord) return true;
    this.#isInRecord = false;
    this.#beginOne();
    return this.#take(closed);
  }

  #beginOne(): void {
    this.#ofOne = 0;
    this.#characters = 0;
  }
}

function elementOf(name: string, attributes: string): XmlElement {
  return { name, attributes, children: [], text: '' };
}

/** A part of a text would keep all of it. */
export function copyOf(text: string): string {
  return Buffer.from(text).toString();
}

/** Hands an answer in UTF-8 to the reader. False where it is not well-formed, or no answer of its kind. */
export async function readRecords(
  stream: Readable,
  reader: RecordReader,
  { moved }: Moving,
): Promise<boolean> {
  const decoder = new TextDecoder('utf-8', { ignoreBOM: true });
  for await (const chunk of stream as AsyncIterable<Buffer>) {
    moved(chunk.byteLength);
    reader.push(decoder.decode(chunk, { stream: true }));
  }
  reader.push(decoder.decode());
  return reader.isWhole();
}

const entities: Readonly<Record<string, string>> = { lt: '<', gt: '>', amp: '&', quot: '"', apos: "'" };

function unescaped(text: string): string {
  return text.replaceAll(/&(?:#x([0-9a-f]{1,6})|#(\d{1,7})|(\w+));/gi, (whole, hex, decimal, name) => {
    if (name !== undefined) return entities[name as string] ?? whole;
    const code = hex === undefined ? Number(decimal) : Number.parseInt(hex as string, 16);
    return code <= 0x10_ff_ff ? String.fromCodePoint(code) : whole;
  });
}
