/**
 * Runs the rclone program as a child. It ends together with this process, even when that is killed, because it serves
 * its standard input, which then closes. Commands go over a local socket with a random password: the protocol on its
 * standard input breaks down when several large uploads share it.
 */
import { spawn } from 'node:child_process';
import type { ChildProcessByStdio } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import type { Readable, Writable } from 'node:stream';
import { causeText } from '../../base/errno-words.ts';
import { DestinationError, errnoOf } from '../../base/errors.ts';
import { systemClock } from '../../base/clock.ts';
import { waitsForAnswer } from '../../base/waits.ts';
import type { RcloneAccess } from '../access.ts';
import { openHttpSite } from '../http-site.ts';
import type { HttpSite } from '../http-site.ts';
import type { RclonePlace } from '../location.ts';
import { grewTooLarge, mostMemory, watchMemory } from './memory-watch.ts';
import { complaint, linesOf, plainWords } from './words.ts';

type Child = ChildProcessByStdio<Writable, null, Readable>;
type Environment = Readonly<Record<string, string | undefined>>;

/**
 * The name of the destination within rclone: an alias defined by environment variables, so that no path needs quoting.
 */
export const FS = 'holdfast:';

/** How an HTTP/2 client begins: the preface and empty settings. Without them rclone ends after ten seconds. */
const greeting = Buffer.concat([
  Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'),
  Buffer.from([0, 0, 0, 4, 0, 0, 0, 0, 0]),
]);

const startMs = 60_000;
const endMs = 500;
const momentMs = 1_000;
const keptComplaints = 4_000;

/** The child process, started on first use and again after it has ended. */
export class RcloneProgram {
  readonly #start: () => Promise<Running>;
  readonly #closing = new AbortController();
  readonly #grown = new AbortController();
  #running: Promise<Running> | undefined;
  /** What the last child that ended has complained of. */
  #lastWords: Promise<DestinationError> | undefined;

  constructor(
    place: RclonePlace,
    url: string,
    access: RcloneAccess,
    environment: Environment,
    sockets: number,
    most = mostMemory(),
  ) {
    this.#start = async () => {
      const running = await start(place, url, access, environment, sockets, this.#closing.signal);
      watchMemory(running.child, most, () => this.#grown.abort(grewTooLarge(url, most)));
      running.child.once('exit', () => {
        this.#lastWords = hasSaidAll(running.child).then(() => complaint(running.said(), url));
        running.site.close();
        this.#running = undefined;
      });
      return running;
    };
  }

  /**
   * The running rclone, started if necessary. Rejects with `unsupported` when the program is not installed, and with
   * rclone's own complaint when it does not start.
   */
  async site(): Promise<HttpSite> {
    // A child started after `close` would never be ended.
    this.#closing.signal.throwIfAborted();
    this.#grown.signal.throwIfAborted();
    this.#running ??= this.#start();
    try {
      return (await this.#running).site;
    } catch (error) {
      this.#running = undefined;
      throw error;
    }
  }

  /** Aborted with the reason once rclone has taken too much memory. It is not started again. */
  get grown(): AbortSignal {
    return this.#grown.signal;
  }

  /**
   * Why rclone ended by itself, for a caller whose connection broke; undefined when it has not ended. Call it before
   * `close`.
   */
  async lastWords(): Promise<DestinationError | undefined> {
    const running = await this.#running?.catch(() => undefined);
    if (running !== undefined) await hasEnded(running.child);
    return await this.#lastWords;
  }

  /** Ends rclone, even while it is still starting. */
  async close(): Promise<void> {
    this.#closing.abort();
    const running = await this.#running?.catch(() => undefined);
    if (running === undefined) return;
    const { child, site } = running;
    site.close();
    // Processes that rclone has started may keep the pipe open; nobody waits for them.
    child.stderr.destroy();
    if (child.exitCode !== null || child.signalCode !== null) return;
    await new Promise<void>((resolve) => {
      const patience = setTimeout(() => child.kill('SIGKILL'), endMs);
      child.once('exit', () => {
        clearTimeout(patience);
        resolve();
      });
      child.stdin.destroy();
      child.kill();
    });
  }
}

/** Waits a moment for the exit: a broken connection may be noticed before the end of the program. */
async function hasEnded(child: Child): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  await happens(child, 'exit');
}

/**
 * Waits a moment for the rest of the output, which may arrive after the exit. A process started by rclone may hold the
 * pipe open for longer.
 */
async function hasSaidAll(child: Child): Promise<void> {
  if (!child.stderr.readableEnded) await happens(child, 'close');
}

async function happens(child: Child, event: 'close' | 'exit'): Promise<void> {
  await new Promise<void>((resolve) => {
    const patience = setTimeout(resolve, momentMs);
    child.once(event, () => {
      clearTimeout(patience);
      resolve();
    });
  });
}

interface Running {
  readonly child: Child;
  readonly site: HttpSite;
  /** The last part of its error output. */
  said(): string;
}

async function start(
  place: RclonePlace,
  url: string,
  access: RcloneAccess,
  environment: Environment,
  maxSockets: number,
  closing: AbortSignal,
): Promise<Running> {
  const credentials = { user: 'holdfast', password: randomBytes(24).toString('base64url') };
  const program = access.program ?? 'rclone';
  const child: Child = spawn(program, parameters(access), {
    stdio: ['pipe', 'ignore', 'pipe'],
    env: {
      ...withoutOwnSettings(environment),
      RCLONE_CONFIG_HOLDFAST_TYPE: 'alias',
      RCLONE_CONFIG_HOLDFAST_REMOTE: `${place.remote}:${place.path}`,
      RCLONE_RC_USER: credentials.user,
      RCLONE_RC_PASS: credentials.password,
      ...(access.configPassword === undefined ? {} : { RCLONE_CONFIG_PASS: access.configPassword }),
    },
    windowsHide: true,
  });
  // The end of the program is seen by its exit event; a write to its closed input is of no interest.
  child.stdin.on('error', () => undefined);
  child.stdin.write(greeting);
  const giveUp = (): unknown => child.kill('SIGKILL');
  closing.addEventListener('abort', giveUp, { once: true });
  try {
    let complaints = '';
    child.stderr.on(
      'data',
      (bytes: Buffer) => (complaints = (complaints + bytes.toString()).slice(-keptComplaints)),
    );
    const said = (): string => complaints;
    const port = await portOf(child, said, program, url);
    const origin = `http://127.0.0.1:${port}`;
    return { child, site: openHttpSite({ origin, url, credentials, maxSockets }), said };
  } catch (error) {
    child.stdin.destroy();
    child.stderr.destroy();
    child.kill('SIGKILL');
    throw error;
  } finally {
    closing.removeEventListener('abort', giveUp);
  }
}

function parameters({ configFile }: RcloneAccess): readonly string[] {
  return [
    'serve',
    'restic',
    '--stdio',
    '--rc',
    '--rc-addr',
    '127.0.0.1:0',
    '--rc-serve',
    // Gives the storage's own time of an object, where it keeps that in addition to the time sent with it.
    '--use-server-modtime',
    // Data in the buffers of a slow connection has already left rclone, and the answer comes only after all of it has
    // arrived.
    '--timeout',
    '5m',
    '--log-level',
    'NOTICE',
    '--ask-password=false',
    ...(configFile === undefined ? [] : ['--config', configFile]),
    FS,
  ];
}

/**
 * Variables that would change where rclone takes commands or writes its messages, and Holdfast's own, which rclone must
 * not see.
 */
const KEPT_BACK =
  /^(?:HOLDFAST_|RCLONE_(?:RC(?:_|$)|LOG_|USE_JSON_LOG|VERBOSE|QUIET|STDIO|ADDR|CONFIG_HOLDFAST_))/;

function withoutOwnSettings(environment: Environment): Record<string, string | undefined> {
  return Object.fromEntries(Object.entries(environment).filter(([name]) => !KEPT_BACK.test(name)));
}

async function portOf(child: Child, said: () => string, program: string, url: string): Promise<number> {
  const found = Promise.withResolvers<number>();
  child.stderr.on('data', () => {
    const port = /remote control on http:\/\/127\.0\.0\.1:(\d+)/i.exec(said())?.[1];
    if (port !== undefined) found.resolve(Number(port));
  });
  child.once('error', (error) => found.reject(notStarted(error, program, url)));
  child.once('exit', () => void hasSaidAll(child).then(() => found.reject(complaint(said(), url))));
  const patience = setTimeout(() => found.reject(silent(said(), url)), startMs);
  const since = systemClock.monotonic();
  const answered = waitsForAnswer(
    'rclone',
    () => since,
    () => startMs,
  );
  try {
    return await found.promise;
  } finally {
    answered();
    clearTimeout(patience);
  }
}

function notStarted(error: Error, program: string, url: string): DestinationError {
  const isMissing = errnoOf(error) === 'ENOENT';
  const what = isMissing ? 'is not installed' : `cannot be started: ${causeText(error)}`;
  return new DestinationError('unsupported', `Cannot open ${url}: the program ${program} ${what}`, {
    op: 'open',
    hint: 'Install rclone (rclone.org, or your system’s packages), or set the program for this destination.',
    details: { program },
    cause: error,
  });
}

/** The error for an rclone that runs but does not tell its address in time. */
function silent(text: string, url: string): DestinationError {
  const last = linesOf(text).at(-1);
  const said = last === undefined ? '' : `. It says: "${plainWords(last)}"`;
  const what = `rclone did not start within ${startMs / 1000} seconds${said}`;
  return new DestinationError('unreachable', `Cannot open ${url}: ${what}`, {
    op: 'open',
    hint: 'Try "rclone lsd" with the same remote and path to see what delays it.',
    retry: 'later',
    details: { stalled: true },
  });
}
