import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { readFileIfPresent, writeFileAtomically } from '../base/atomic-file.ts';
import { RepositoryError, StateError } from '../base/errors.ts';
import { withLockFile } from '../base/lock-file.ts';
import { NO_RECORD } from '../format/records.ts';

/**
 * What this host remembers of a repository between runs: who it is as a writer, its newest record, and the highest
 * ring, configuration and foreign records it has seen, so that a rolled-back repository is noticed.
 */
export interface WriterMemory {
  readonly writer: string;
  readonly seq: number;
  readonly prev: string;
  readonly ring: number;
  /** The highest number of a configuration that is signed for its number. */
  readonly config: number;
  readonly heads: Readonly<Record<string, { readonly seq: number; readonly record: string }>>;
  /** The record that is about to be stored. The run may die before it learns whether the record was stored. */
  readonly announced?: AnnouncedRecord | undefined;
}

/** A record that somebody else wrote as this writer: a copy of this host's state directory is in use elsewhere. */
export interface ForeignRecord {
  readonly writer: string;
  readonly seq: number;
  /** The record's name; null when the head that reports it could not be read. */
  readonly record: string | null;
  /** The host that the snapshot names; null when the record is no snapshot or can no longer be read. */
  readonly host: string | null;
  /** When its backup began by that host's clock, in milliseconds since 1970; null when not known. */
  readonly atMs: number | null;
}

export interface AnnouncedRecord {
  readonly seq: number;
  /** SHA-256 of the record. */
  readonly record: string;
  readonly key: string;
}

/** Keeps a WriterMemory in `<directory>/repositories/<id>.json`, or only in memory when there is no directory. */
export class WriterState {
  readonly #path: string | undefined;
  readonly #mark: Buffer;
  #memory: WriterMemory;
  #holdsLock = false;
  #foreign: ForeignRecord | undefined;
  #unkept: StateError | undefined;
  #queue: Promise<unknown> = Promise.resolve();

  private constructor(path: string | undefined, mark: Buffer, memory: WriterMemory) {
    this.#path = path;
    this.#mark = mark;
    this.#memory = memory;
  }

  /**
   * @param name the repository's id, with a suffix for a writer other than the ordinary one
   * @param mark the first bytes of the id of a new writer
   * @throws {StateError} when the file exists but cannot be understood
   */
  static async open(
    directory: string | undefined,
    name: string,
    mark: Buffer = Buffer.alloc(0),
  ): Promise<WriterState> {
    const path = directory === undefined ? undefined : join(directory, 'repositories', `${name}.json`);
    const fresh: WriterMemory = {
      writer: newWriter(mark),
      seq: 0,
      prev: NO_RECORD,
      ring: 0,
      config: 0,
      heads: {},
    };
    if (path === undefined) return new WriterState(undefined, mark, fresh);
    const stored = await readFileIfPresent(path);
    if (stored === undefined) return new WriterState(path, mark, fresh);
    return new WriterState(path, mark, parseMemory(stored.toString('utf8'), path));
  }

  get memory(): WriterMemory {
    return this.#memory;
  }

  /** Why something is remembered only in this process; undefined when everything was saved. */
  get unkept(): StateError | undefined {
    return this.#unkept;
  }

  /** The record for which this process gave up its identity, if that happened since the last call. */
  takeForeign(): ForeignRecord | undefined {
    const foreign = this.#foreign;
    this.#foreign = undefined;
    return foreign;
  }

  /**
   * Goes on as a new writer because somebody else writes as this one. Two chains with the same numbers would make it
   * impossible to prove that no record is missing. What this host knows of the old chain is kept like that of any other
   * writer.
   */
  async becomeAnother(foreign: ForeignRecord): Promise<void> {
    const { writer, seq, prev } = this.#memory;
    await this.remember({
      writer: newWriter(this.#mark),
      seq: 0,
      prev: NO_RECORD,
      announced: undefined,
      heads: seq === 0 ? {} : { [writer]: { seq, record: prev } },
    });
    this.#foreign = foreign;
  }

  /**
   * Saves the changes. Numbers of rings, configurations and heads only rise, since another process of this host may
   * have seen newer ones.
   */
  async remember(changes: Partial<WriterMemory>): Promise<void> {
    if (this.#path === undefined || this.#holdsLock) await this.#merge(changes);
    else await this.exclusively(async () => await this.#merge(changes), new AbortController().signal);
  }

  /**
   * Like `remember`, for callers that only read. If the state directory is full or read-only, the changes are kept in
   * this process alone, and `unkept` says why.
   */
  async rememberIfPossible(changes: Partial<WriterMemory>): Promise<void> {
    try {
      await this.remember(changes);
    } catch (error) {
      if (!(error instanceof StateError) || error.code !== 'WRITE_ERROR') throw error;
      this.#take(changes);
      this.#unkept = error;
    }
  }

  /**
   * Runs `work` while nothing else in this process, and no other process of this host, writes as the same writer. The
   * memory is read anew before that.
   */
  async exclusively<T>(work: () => Promise<T>, signal: AbortSignal): Promise<T> {
    const before = this.#queue;
    const mine = (async (): Promise<T> => {
      await Promise.allSettled([before]);
      const path = this.#path;
      return path === undefined
        ? await work()
        : await withLockFile(`${path}.lock`, async () => await this.#locked(path, work), signal);
    })();
    this.#queue = mine;
    return await mine;
  }

  async #locked<T>(path: string, work: () => Promise<T>): Promise<T> {
    const stored = await readFileIfPresent(path);
    if (stored !== undefined) this.#memory = parseMemory(stored.toString('utf8'), path);
    this.#holdsLock = true;
    try {
      return await work();
    } finally {
      this.#holdsLock = false;
    }
  }

  async #merge(changes: Partial<WriterMemory>): Promise<void> {
    this.#take(changes);
    if (this.#path === undefined) return;
    await writeFileAtomically(this.#path, memoryText(this.#memory));
  }

  #take(changes: Partial<WriterMemory>): void {
    const { ring, config, heads } = this.#memory;
    this.#memory = {
      ...this.#memory,
      ...changes,
      ring: Math.max(ring, changes.ring ?? 0),
      config: Math.max(config, changes.config ?? 0),
      heads: newerHeads(heads, changes.heads ?? {}),
    };
  }

  /** @throws {RepositoryError} REFUSED when the repository shows less than this host has seen before */
  requireNotOlder(seen: { readonly ring: number; readonly config: number }): void {
    const { ring, config } = this.#memory;
    if (seen.ring >= ring && seen.config >= config) return;
    const gone = seen.ring < ring ? `keys/ring-${ring}` : `config/${config}`;
    throw new RepositoryError(
      'REFUSED',
      `The repository is older than when this machine last used it (${gone} is missing): it was replaced with an earlier copy`,
      {
        hint: "Find out who restored or replaced the destination before you go on; delete this machine's memory of the repository to accept it.",
      },
    );
  }
}

function newerHeads(known: WriterMemory['heads'], seen: WriterMemory['heads']): WriterMemory['heads'] {
  const newer = Object.entries(seen).filter(([writer, { seq }]) => seq >= (known[writer]?.seq ?? 0));
  return { ...known, ...Object.fromEntries(newer) };
}

/**
 * Previews of 0.1 read and write `config`, and stored there any number that somebody had planted. So the trusted number
 * has a field of its own, `boundConfig`.
 */
function memoryText(memory: WriterMemory): string {
  return `${JSON.stringify({ ...memory, boundConfig: memory.config }, undefined, 2)}\n`;
}

function parseMemory(text: string, path: string): WriterMemory {
  const damaged = (cause?: unknown): StateError =>
    new StateError('STATE_DAMAGED', `${path} is damaged`, {
      hint: 'Move the file away; the next run continues as a new writer and loses nothing.',
      cause,
    });
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (cause) {
    throw damaged(cause);
  }
  if (!isStoredMemory(value)) throw damaged();
  const { boundConfig = 0, heads, ...rest } = value;
  // Versions that did not check may have remembered a planted number that no record can have. Ignoring it avoids
  // locking the host out.
  const believed = Object.entries(heads).filter(([, { seq }]) => isCount(seq));
  return { ...rest, config: boundConfig, heads: Object.fromEntries(believed) };
}

interface StoredMemory extends WriterMemory {
  readonly boundConfig?: number;
}

function isStoredMemory(value: unknown): value is StoredMemory {
  if (typeof value !== 'object' || value === null) return false;
  const memory: Partial<Record<keyof StoredMemory, unknown>> = value;
  return (
    typeof memory.writer === 'string' &&
    /^[0-9a-f]{32}$/.test(memory.writer) &&
    isCount(memory.seq) &&
    isRecordName(memory.prev) &&
    isCount(memory.ring) &&
    Number.isInteger(memory.config) &&
    (memory.boundConfig === undefined || isCount(memory.boundConfig)) &&
    typeof memory.heads === 'object' &&
    memory.heads !== null &&
    Object.values(memory.heads).every(isHead) &&
    (memory.announced === undefined || isAnnounced(memory.announced))
  );
}

function newWriter(mark: Buffer): string {
  return Buffer.concat([mark, randomBytes(16 - mark.length)]).toString('hex');
}

function isCount(value: unknown): boolean {
  return Number.isSafeInteger(value) && Number(value) >= 0;
}

function isRecordName(value: unknown): boolean {
  return typeof value === 'string' && /^[0-9a-f]{64}$/.test(value);
}

function isHead(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false;
  const head: Partial<Record<'seq' | 'record', unknown>> = value;
  return Number.isInteger(head.seq) && Number(head.seq) >= 0 && isRecordName(head.record);
}

function isAnnounced(value: unknown): value is AnnouncedRecord {
  if (typeof value !== 'object' || value === null) return false;
  const announced: Partial<Record<keyof AnnouncedRecord, unknown>> = value;
  return isCount(announced.seq) && isRecordName(announced.record) && typeof announced.key === 'string';
}
