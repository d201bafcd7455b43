/** One SFTP session and its concurrent calls. Each call is answered, or all of them fail when the session is lost. */
import type { SFTPWrapper, Stats } from 'ssh2';
import { systemClock } from '../../base/clock.ts';
import type { DestinationError } from '../../base/errors.ts';
import { waitsForAnswer } from '../../base/waits.ts';
import { disconnected, isStatus, STATUS } from './answers.ts';
import type { Connection } from './connect.ts';

/** The attributes of a file or directory. */
export interface FileFacts {
  readonly type: 'file' | 'directory' | 'link' | 'other';
  readonly size: number;
  /** By the server's clock, milliseconds since 1970; SFTP has whole seconds only. */
  readonly modifiedMs: number;
}

export interface NamedFacts extends FileFacts {
  readonly name: string;
}

/** What a server says of a name beside it. */
const BYTES_OF_FACTS = 100;

/** Without a byte for so long the server counts as gone. */
const stallMs = 60_000;
/** In that time: whoever waits is to be told soon after the fourth second. */
const looks = 30;
/** Bytes between two looks: a keepalive and its answer have a hundred or so. */
const STIR_BYTES = 1_600;

/** The most bytes of unanswered writes; they are held in memory until they are sent. */
const mostUnanswered = 4 * 1024 * 1024;

/** Of an answer that is whole for what it is; what comes in pieces counts by its bytes, of which fewer are no progress. */
const WHOLE = 1024;
const LEAST_BYTES = 1024;
/** Bytes of one answer, with all that is around it. What comes beyond these and answers nothing is no progress. */
const LARGEST_ANSWER = 512 * 1024;

type Answer<T> = (error: Error | undefined | null, value?: T) => void;

export class Lane {
  /** OpenSSH's own server, which handles requests in order. */
  readonly isOpenSsh: boolean;
  /** The server can only append, and mixes up writes that are sent at once. */
  readonly onlyAppends: boolean;
  /**
   * Bytes of one read or write: larger for OpenSSH, where that saves work on both sides, otherwise what the standard
   * requires servers to support.
   */
  readonly pieceBytes: number;
  readonly connection: Connection;
  readonly #url: string;
  readonly #unanswered = new Set<(error: DestinationError) => void>();
  readonly #waiting: (() => void)[] = [];
  readonly #onLost: (lane: Lane) => void;
  #lost: DestinationError | undefined;
  #unansweredBytes = 0;
  /** What answers were worth, in bytes. */
  #answered = 0;
  /** What the connection had received when the last one came. */
  #receivedThen = 0;
  /** Operations under way, for whoever spreads them. */
  load = 0;

  constructor(connection: Connection, url: string, onLost: (lane: Lane) => void, stalledMs = stallMs) {
    this.connection = connection;
    this.#url = url;
    this.#onLost = onLost;
    const { software } = connection;
    this.isOpenSsh = software.startsWith('OpenSSH_') && !/for_Windows/i.test(software);
    this.onlyAppends = software.startsWith('rclone');
    this.pieceBytes = this.isOpenSsh ? 128 * 1024 : 32 * 1024;
    const lose = (what: string) => (error?: unknown) => this.#lose(what, error);
    connection.client.on('error', lose('the connection was lost'));
    connection.client.once('close', lose('the connection was closed'));
    connection.sftp.on('error', lose('the server violated the protocol'));
    connection.sftp.once('close', lose('the server ended the session'));
    connection.sftp.once('end', lose('the server ended the session'));
    this.#watch(stalledMs);
  }

  get isLost(): boolean {
    return this.#lost !== undefined;
  }

  /** Whether the server offers this extension of the protocol. */
  offers(extension: string): boolean {
    // ssh2 stores the extensions but does not expose them in its interface.
    const { _extensions: known } = this.connection.sftp as { readonly _extensions?: object };
    return known !== undefined && Object.hasOwn(known, extension);
  }

  end(): void {
    this.#lose('the destination was closed');
  }

  async open(path: string, how: 'read' | 'create', mode = 0o600): Promise<Buffer> {
    const flags = how === 'read' ? 'r' : 'wx';
    return await this.#call((sftp, done) => sftp.open(path, flags, mode, done));
  }

  async close(handle: Buffer): Promise<void> {
    await this.#call((sftp, done) => sftp.close(handle, done));
  }

  /** Waits until enough earlier writes are answered to send this many bytes more. */
  async room(bytes: number): Promise<void> {
    while (this.#unansweredBytes > 0 && this.#unansweredBytes + bytes > mostUnanswered && !this.isLost)
      await new Promise<void>((resolve) => this.#waiting.push(resolve));
  }

  async write(handle: Buffer, body: Buffer, offset: number, length: number): Promise<void> {
    this.#unansweredBytes += length;
    try {
      await this.#call((sftp, done) => sftp.write(handle, body, offset, length, offset, done));
    } finally {
      this.#unansweredBytes -= length;
      for (const resolve of this.#waiting.splice(0)) resolve();
    }
  }

  /** Reads into `body` at `offset`. Resolves with the number of bytes read, 0 at the end of the file. */
  async read(
    handle: Buffer,
    body: Buffer,
    offset: number,
    length: number,
    position: number,
  ): Promise<number> {
    return await this.#call<number>(
      (sftp, done) => sftp.read(handle, body, offset, length, position, (error, count) => done(error, count)),
      (count) => (count === 0 || count === length ? WHOLE : count),
    );
  }

  async sync(handle: Buffer): Promise<void> {
    await this.#call((sftp, done) => sftp.ext_openssh_fsync(handle, (error) => done(error, undefined)));
  }

  async factsOf(handle: Buffer): Promise<FileFacts> {
    return facts(await this.#call((sftp, done) => sftp.fstat(handle, done)));
  }

  /** The attributes of `path`; of the target if it is a symbolic link. */
  async stat(path: string): Promise<FileFacts> {
    return facts(await this.#call((sftp, done) => sftp.stat(path, done)));
  }

  async absolute(path: string): Promise<string> {
    return await this.#call((sftp, done) => sftp.realpath(path, done));
  }

  async makeDirectory(path: string): Promise<void> {
    await this.#call((sftp, done) => sftp.mkdir(path, { mode: 0o700 }, done));
  }

  async remove(path: string): Promise<void> {
    await this.#call((sftp, done) => sftp.unlink(path, done));
  }

  /** Some servers replace an existing file. */
  async rename(from: string, to: string): Promise<void> {
    await this.#call((sftp, done) => sftp.rename(from, to, done));
  }

  async link(from: string, to: string): Promise<void> {
    await this.#call((sftp, done) => sftp.ext_openssh_hardlink(from, to, done));
  }

  /** Bytes that this account may still use; undefined when the server does not say. */
  async freeBytes(path: string): Promise<number | undefined> {
    if (!this.offers('statvfs@openssh.com')) return undefined;
    const space = await this.#call<unknown>((sftp, done) => sftp.ext_openssh_statvfs(path, done));
    const { f_frsize: unit, f_bavail: free, f_favail: files } = space as Readonly<Record<string, unknown>>;
    if (typeof unit !== 'number' || typeof free !== 'number') return undefined;
    return files === 0 ? 0 : unit * free;
  }

  async openDirectory(path: string): Promise<Buffer> {
    return await this.#call((sftp, done) => sftp.opendir(path, done));
  }

  /** The next names; undefined at the end. `.` and `..` are left out. */
  async readDirectory(handle: Buffer): Promise<readonly NamedFacts[] | undefined> {
    try {
      const entries = await this.#call<readonly { readonly filename: string; readonly attrs: Stats }[]>(
        (sftp, done) => sftp.readdir(handle, (error, list) => done(error, list)),
        (list) => list.reduce((sum, { filename }) => sum + filename.length + BYTES_OF_FACTS, 0),
      );
      return entries.map(({ filename, attrs }) => ({ name: filename, ...facts(attrs) }));
    } catch (error) {
      if (isStatus(error, STATUS.endOfFile)) return undefined;
      throw error;
    }
  }

  /** @param worth bytes of an answer that may come in pieces */
  async #call<T>(
    send: (sftp: SFTPWrapper, done: Answer<T>) => void,
    worth: (value: T) => number = () => WHOLE,
  ): Promise<T> {
    if (this.#lost !== undefined) throw this.#lost;
    return await new Promise<T>((resolve, reject) => {
      this.#unanswered.add(reject);
      const done: Answer<T> = (error, value) => {
        this.#unanswered.delete(reject);
        const isAnswer = error === undefined || error === null;
        this.#answered += isAnswer ? worth(value as T) : WHOLE;
        this.#receivedThen = this.connection.socket.bytesRead;
        if (isAnswer) resolve(value as T);
        else if ('code' in error) reject(error);
        else reject(this.#lost ?? disconnected(this.#url, 'the server stopped answering', error));
      };
      try {
        send(this.connection.sftp, done);
      } catch (error) {
        this.#unanswered.delete(reject);
        reject(error);
      }
    });
  }

  #lose(what: string, cause?: unknown, stalled = false): void {
    if (this.#lost !== undefined) return;
    this.#lost = disconnected(this.#url, what, cause, stalled);
    for (const reject of this.#unanswered) reject(this.#lost);
    this.#unanswered.clear();
    for (const resolve of this.#waiting.splice(0)) resolve();
    this.connection.client.destroy();
    this.connection.socket.destroy();
    this.#onLost(this);
  }

  /**
   * Fails the session when calls are waiting and nothing has moved for as many checks as make up `stalledMs`. Checks
   * are counted instead of time, so that time in which this machine sleeps is left out.
   */
  #watch(stalledMs: number): void {
    const { socket } = this.connection;
    let still = 0;
    let movedAt = 0;
    let answered: (() => void) | undefined;
    const since = (): number => movedAt;
    let seen = { answered: 0, sent: 0, received: 0 };
    const timer = setInterval(() => {
      if (this.isLost) {
        answered?.();
        clearInterval(timer);
        return;
      }
      const sent = socket.bytesWritten - socket.writableLength;
      const now = { answered: this.#answered, sent, received: socket.bytesRead };
      const mayAnswer = now.received - this.#receivedThen <= this.#unanswered.size * LARGEST_ANSWER;
      const hasAnswered = now.answered - seen.answered >= LEAST_BYTES;
      const moved =
        hasAnswered ||
        now.sent - seen.sent > STIR_BYTES ||
        (mayAnswer && now.received - seen.received > STIR_BYTES);
      const isIdle = this.#unanswered.size === 0;
      still = moved || isIdle ? 0 : still + 1;
      // Small pieces add up until they are some progress.
      seen = { ...now, answered: hasAnswered || isIdle ? now.answered : seen.answered };
      if (still === 0) {
        answered?.();
        answered = undefined;
      } else {
        if (still === 1) movedAt = systemClock.monotonic() - stalledMs / looks;
        answered ??= waitsForAnswer('store', since, () => stalledMs);
      }
      if (still >= looks)
        this.#lose(`no data was transferred for ${Math.round(stalledMs / 1000)} s`, undefined, true);
    }, stalledMs / looks);
    timer.unref();
  }
}

function facts(stats: Stats): FileFacts {
  const { size, mtime, mode } = stats as {
    readonly size?: number;
    readonly mtime?: number;
    readonly mode?: number;
  };
  return { type: typeOf(mode ?? 0), size: size ?? -1, modifiedMs: (mtime ?? 0) * 1000 };
}

/** The type bits of the file mode, which servers on all systems send in this form. */
function typeOf(mode: number): FileFacts['type'] {
  switch (mode & 0o170_000) {
    case 0o100_000:
      return 'file';
    case 0o040_000:
      return 'directory';
    case 0o120_000:
      return 'link';
    default:
      return 'other';
  }
}
