/** Reads the end of the agent's log, backwards and only as far as needed, as the file may be large. */
import { open, type FileHandle } from 'node:fs/promises';
import { join } from 'node:path';
import { errnoOf } from '../../base/errors.ts';

/** JSON lines of the agent. */
export function agentLogPath(stateDirectory: string): string {
  return join(stateDirectory, 'agent.log');
}

/** The previous log, renamed when it had grown too large. */
export function olderLogPath(stateDirectory: string): string {
  return `${agentLogPath(stateDirectory)}.1`;
}

/** Levels as pino numbers them. */
const LEVELS = { debug: 20, info: 30, warn: 40, error: 50, fatal: 60 } as const;

export interface LogEntry {
  /** Milliseconds since 1970. */
  readonly at: number;
  /** `debug` to `fatal`. */
  readonly level: string;
  /** The message, with that of the error, if any. */
  readonly text: string;
  /** The stored line. */
  readonly line: string;
}

export interface LogWish {
  /** The most lines to return. */
  readonly lines: number;
  /** This level and worse ones. */
  readonly level: 'debug' | 'info' | 'warn' | 'error';
}

/** The most bytes that are read, whatever is searched for. */
const MOST_BYTES = 4 * 1024 * 1024;
const BLOCK_BYTES = 128 * 1024;

/** The last lines of that level or worse, the oldest first; empty when there is no log. */
export async function endOfAgentLog(stateDirectory: string, wish: LogWish): Promise<readonly LogEntry[]> {
  const found: LogEntry[] = [];
  const budget = { bytes: MOST_BYTES };
  for (const path of [agentLogPath(stateDirectory), olderLogPath(stateDirectory)]) {
    for await (const line of linesFromEnd(path, budget)) {
      const entry = readEntry(line);
      if (entry !== undefined && rankOf(entry.level) >= LEVELS[wish.level]) found.push(entry);
      if (found.length === wish.lines) return found.toReversed();
    }
  }
  return found.toReversed();
}

/** Yields the last line first. Leaves out a line that the budget cuts. */
async function* linesFromEnd(path: string, budget: { bytes: number }): AsyncGenerator<string> {
  const file = await openIfPresent(path);
  if (file === undefined) return;
  try {
    let { size: end } = await file.stat();
    /** The end of a line whose beginning has not been read yet. */
    let rest: Buffer = Buffer.alloc(0);
    while (end > 0 && budget.bytes > 0) {
      const start = Math.max(0, end - Math.min(BLOCK_BYTES, budget.bytes));
      const block = await readSpan(file, start, end);
      budget.bytes -= end - start;
      end = start;
      const [first, ...whole] = splitLines(Buffer.concat([block, rest]));
      for (const line of whole.toReversed()) if (line.length > 0) yield line.toString('utf8');
      rest = first ?? Buffer.alloc(0);
    }
    if (end === 0 && rest.length > 0) yield rest.toString('utf8');
  } finally {
    await file.close();
  }
}

async function openIfPresent(path: string): Promise<FileHandle | undefined> {
  try {
    return await open(path, 'r');
  } catch (error) {
    if (errnoOf(error) === 'ENOENT') return undefined;
    throw error;
  }
}

async function readSpan(file: FileHandle, start: number, end: number): Promise<Buffer> {
  const { buffer, bytesRead } = await file.read(Buffer.alloc(end - start), 0, end - start, start);
  return buffer.subarray(0, bytesRead);
}

function splitLines(bytes: Buffer): Buffer[] {
  const lines: Buffer[] = [];
  let from = 0;
  for (let at = bytes.indexOf(0x0a); at !== -1; at = bytes.indexOf(0x0a, from)) {
    lines.push(bytes.subarray(from, at));
    from = at + 1;
  }
  return [...lines, bytes.subarray(from)];
}

/** Undefined for a line that the agent did not write. */
function readEntry(line: string): LogEntry | undefined {
  let entry: unknown;
  try {
    entry = JSON.parse(line);
  } catch {
    // A process that was killed while it wrote leaves an incomplete line.
    return undefined;
  }
  if (typeof entry !== 'object' || entry === null) return undefined;
  const fields = entry as Readonly<Record<string, unknown>>;
  const at = Date.parse(String(fields['time']));
  if (Number.isNaN(at)) return undefined;
  return { at, level: levelOf(Number(fields['level'])), text: textOf(fields), line };
}

function textOf({ msg, err }: Readonly<Record<string, unknown>>): string {
  const said = typeof msg === 'string' ? msg : '';
  const why = typeof err === 'object' && err !== null && 'message' in err ? String(err.message) : '';
  if (why === '' || said.includes(why)) return said;
  return said === '' || why.startsWith(said) ? why : `${said}: ${why}`;
}

function levelOf(number: number): string {
  const names = Object.entries(LEVELS).filter(([, rank]) => rank <= number);
  return names.at(-1)?.[0] ?? 'debug';
}

function rankOf(level: string): number {
  return Object.entries(LEVELS).find(([name]) => name === level)?.[1] ?? LEVELS.debug;
}
