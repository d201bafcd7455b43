/**
 * Keeps the first and the last lines of another program's output: the first are passed on as they arrive, the last at
 * the end. However much is printed, with or without line ends, memory and work per byte stay constant.
 */
import { formatBytes } from './units.ts';

export interface OutputLimits {
  /** Lines that are passed on as they arrive. */
  readonly first: number;
  /** Lines that are passed on at the end, when there were more. */
  readonly last: number;
  /** Most bytes of one line; the rest of it is dropped. */
  readonly lineBytes: number;
}

/** The log cuts lines at 4,000 characters after it has removed secrets, so these may be longer. */
const DEFAULT_LIMITS: OutputLimits = { first: 500, last: 200, lineBytes: 16_000 };
/** Most bytes that are kept of the end of the output. */
const TAIL_BYTES = 65_536;
const LINE_FEED = 10;

export class OutputLines {
  readonly #limits: OutputLimits;
  readonly #told: (lines: readonly string[]) => void;
  #firstLeft: number;
  /** The beginning of the current line, up to `lineBytes`. */
  #line: Buffer[] = [];
  #lineLength = 0;
  readonly #tail = new Tail(TAIL_BYTES);

  /** @param told called with the lines of one piece of output together */
  constructor(told: (lines: readonly string[]) => void, limits: OutputLimits = DEFAULT_LIMITS) {
    this.#told = told;
    this.#limits = limits;
    this.#firstLeft = limits.first;
  }

  /** Takes a piece of output. `bytes` may be reused afterwards. */
  take(bytes: Buffer): void {
    const lines: string[] = [];
    let at = 0;
    while (this.#firstLeft > 0 && at < bytes.length) {
      const end = bytes.indexOf(LINE_FEED, at);
      this.#addToLine(bytes.subarray(at, end === -1 ? bytes.length : end));
      if (end === -1) at = bytes.length;
      else {
        at = end + 1;
        lines.push(this.#takeLine());
        this.#firstLeft -= 1;
      }
    }
    this.#tail.push(bytes.subarray(at));
    if (lines.length > 0) this.#told(lines);
  }

  /** Ends the output, and passes on what is left. */
  end(): void {
    if (this.#lineLength > 0) this.#told([this.#takeLine()]);
    const { bytes, dropped } = this.#tail.take();
    if (bytes.length === 0) return;
    // The tail begins in the middle of a line. The rest of that line is left out when complete lines follow.
    const isWithinLine = dropped > 0 && !bytes.includes(LINE_FEED);
    const whole = isWithinLine
      ? Math.max(0, bytes.length - this.#limits.lineBytes)
      : dropped === 0
        ? 0
        : bytes.indexOf(LINE_FEED) + 1;
    const rest = bytes.subarray(whole);
    const lines = linesOf(rest);
    const shown = lines.slice(-this.#limits.last);
    const leftOut =
      dropped + whole + lines.slice(0, -shown.length).reduce((sum, line) => sum + line.length + 1, 0);
    const told = shown.map((line) => textOf(line.subarray(0, this.#limits.lineBytes)));
    this.#told(leftOut === 0 ? told : [`(${formatBytes(leftOut)} of output left out here)`, ...told]);
  }

  #addToLine(part: Buffer): void {
    const kept = part.subarray(0, this.#limits.lineBytes - this.#lineLength);
    if (kept.length === 0) return;
    this.#line.push(Buffer.from(kept));
    this.#lineLength += kept.length;
  }

  #takeLine(): string {
    const line = Buffer.concat(this.#line);
    this.#line = [];
    this.#lineLength = 0;
    return textOf(line);
  }
}

/** Keeps the last `size` bytes of a stream. */
class Tail {
  readonly #size: number;
  #ring: Buffer | undefined;
  #length = 0;

  constructor(size: number) {
    this.#size = size;
  }

  push(bytes: Buffer): void {
    if (bytes.length === 0) return;
    this.#ring ??= Buffer.alloc(this.#size);
    const skipped = Math.max(0, bytes.length - this.#size);
    const kept = bytes.subarray(skipped);
    const at = (this.#length + skipped) % this.#size;
    const fitting = Math.min(kept.length, this.#size - at);
    kept.copy(this.#ring, at, 0, fitting);
    kept.copy(this.#ring, 0, fitting);
    this.#length += bytes.length;
  }

  /** The kept bytes, and how many were dropped before them. */
  take(): { readonly bytes: Buffer; readonly dropped: number } {
    const ring = this.#ring ?? Buffer.alloc(0);
    const [length, at] = [this.#length, this.#length % this.#size];
    this.#ring = undefined;
    this.#length = 0;
    if (length <= this.#size) return { bytes: ring.subarray(0, length), dropped: 0 };
    const bytes = Buffer.concat([ring.subarray(at), ring.subarray(0, at)]);
    return { bytes, dropped: length - this.#size };
  }
}

function linesOf(bytes: Buffer): readonly Buffer[] {
  const lines: Buffer[] = [];
  for (let at = 0; at < bytes.length;) {
    const end = bytes.indexOf(LINE_FEED, at);
    const next = end === -1 ? bytes.length : end;
    lines.push(bytes.subarray(at, next));
    at = next + 1;
  }
  return lines;
}

/** The line as a terminal shows it at the end: a progress display overwrites its line by carriage returns. */
function textOf(line: Buffer): string {
  const text = line.toString('utf8').replace(/\r+$/, '');
  return text.slice(text.lastIndexOf('\r') + 1);
}
