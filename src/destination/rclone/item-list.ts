/**
 * rclone’s list of a whole repository, which comes as one answer: `{"list":[{…},{…}]}`. It is read piece by piece, as
 * with a kilobyte of text for every four packs it soon has no room in memory, nor in one string.
 */
import { EndlessAnswer } from '../bounds.ts';

type Take = (entry: unknown) => void;

/** Four million entries: some 120 TB of packs. */
const LARGEST_LIST = 1024 ** 3;
/** One entry, or all that is none. */
const LARGEST_PART = 1024 ** 2;

const [QUOTE, BACKSLASH, OPEN_OBJECT, CLOSE_OBJECT, OPEN_LIST, CLOSE_LIST] = Buffer.from('"\\{}[]');

/** What stands open around the entries. */
const AROUND = '{[';

export class ItemListReader {
  readonly #take: Take;
  readonly #largest: number;
  /** Brackets that are open. */
  #open = '';
  #inString = false;
  #escaped = false;
  /** Of the entry that is being read. */
  #entry: Buffer[] = [];
  /** The answer with a 0 in place of each entry: it shows whether the answer is whole. In latin1, byte by byte. */
  #frame = '';
  #partBytes = 0;
  #bytes = 0;

  /** @param take gets each entry; undefined for what is no JSON */
  constructor(take: Take, largest = LARGEST_LIST) {
    this.#take = take;
    this.#largest = largest;
  }

  /** @throws {EndlessAnswer} */
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

  /** The answer without the entries: a list of as many numbers. Undefined when it is no JSON, or not all of it. */
  end(): unknown {
    return parsed(Buffer.from(this.#frame, 'latin1'));
  }

  /** Where the string ends in which `at` is; the end of the chunk when that is not yet. */
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
    // A copy: whoever gives the chunk may use its memory again.
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
