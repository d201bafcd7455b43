/**
 * Reads rclone's list of a whole repository, `{"list":[{…},{…}]}`, which comes as one answer. It is parsed piece by
 * piece: with a kilobyte of text for every four packs it soon fits neither into memory nor into a single string.
 */
import { EndlessAnswer } from '../bounds.ts';

type Take = (entry: unknown) => void;

/** Bytes for about four million entries, which are some 120 TB of packs. */
const LARGEST_LIST = 1024 ** 3;
/** Largest size of one entry, and of everything outside of the entries. */
const LARGEST_PART = 1024 ** 2;

const [QUOTE, BACKSLASH, OPEN_OBJECT, CLOSE_OBJECT, OPEN_LIST, CLOSE_LIST] = Buffer.from('"\\{}[]');

/** The brackets that are open around each entry. */
const AROUND = '{[';

export class ItemListReader {
  readonly #take: Take;
  readonly #largest: number;
  /** The brackets that are open at this point. */
  #open = '';
  #inString = false;
  #escaped = false;
  /** The pieces of the entry that is being read. */
  #entry: Buffer[] = [];
  /**
   * The answer with a 0 in place of each entry, to check at the end that it is complete. Latin-1, to keep it byte by
   * byte.
   */
  #frame = '';
  #partBytes = 0;
  #bytes = 0;

  /** @param take gets each entry; undefined for one that is not valid JSON */
  constructor(take: Take, largest = LARGEST_LIST) {
    this.#take = take;
    this.#largest = largest;
  }

  /** @throws {EndlessAnswer} when the answer or a part of it is too large */
  push(chunk: Buffer): void {
    this.#bytes += chunk.length;
    if (this.#bytes > this.#largest) throw new EndlessAnswer(this.#largest);
    let from = 0;
    for (let at = this.#inString ? this.#afterString(chunk, 0) : 0; at < chunk.length; at += 1) {
      const byte = chunk[at];
      if (byte === QUOTE) {
        this.#inString = true;
        at = this.#afterString(chunk, at + 1) - 1;
      } else if (byte === OPEN_OBJECT || byte === OPEN_LIST) {
        if (byte === OPEN_OBJECT && this.#open === AROUND) {
          this.#keep(chunk.subarray(from, at));
          from = at;
        }
        this.#open += byte === OPEN_OBJECT ? '{' : '[';
      } else if (byte === CLOSE_OBJECT || byte === CLOSE_LIST) {
        const wasInEntry = this.#isInEntry();
        this.#open = this.#open.slice(0, -1);
        if (!wasInEntry || this.#isInEntry()) continue;
        this.#entry.push(chunk.subarray(from, at + 1));
        from = at + 1;
        this.#endEntry();
      }
    }
    this.#keep(chunk.subarray(from));
  }

  /**
   * The answer without its entries, each of which is replaced by a number. Undefined when it is not complete, valid
   * JSON.
   */
  end(): unknown {
    return parsed(Buffer.from(this.#frame, 'latin1'));
  }

  /** The position after the string that `at` lies in; the end of the chunk when the string continues beyond it. */
  #afterString(chunk: Buffer, at: number): number {
    for (let here = at; here < chunk.length; here += 1) {
      const byte = chunk[here];
      if (this.#escaped) this.#escaped = false;
      else if (byte === BACKSLASH) this.#escaped = true;
      else if (byte === QUOTE) {
        this.#inString = false;
        return here + 1;
      }
    }
    return chunk.length;
  }

  #isInEntry(): boolean {
    return this.#open.length > AROUND.length && this.#open.startsWith(`${AROUND}{`);
  }

  #keep(bytes: Buffer): void {
    if (!this.#isInEntry()) this.#frame += bytes.toString('latin1');
    // A copy, as the memory of the chunk may be reused.
    else this.#entry.push(Buffer.from(bytes));
    this.#partBytes += bytes.length;
    if (this.#partBytes > LARGEST_PART) throw new EndlessAnswer(LARGEST_PART);
  }

  #endEntry(): void {
    this.#take(parsed(Buffer.concat(this.#entry)));
    this.#entry = [];
    this.#partBytes = 0;
    this.#frame += '0';
  }
}

function parsed(bytes: Buffer): unknown {
  try {
    return JSON.parse(bytes.toString('utf8')) as unknown;
  } catch {
    return undefined;
  }
}
