/** The commands of rclone's remote control that a destination needs. */
import { DestinationError } from '../../base/errors.ts';
import { collectBody } from '../body.ts';
import { LARGEST_PAGE, ListBound, LONGEST_KEY } from '../bounds.ts';
import type { ObjectStat } from '../destination.ts';
import { drain, textOf } from '../http-site.ts';
import type { HttpReply, HttpRequest, HttpSite } from '../http-site.ts';
import type { UploadPace } from '../limited.ts';
import { sleepFor } from '../retry.ts';
import type { Moving } from '../stall.ts';
import { ItemListReader } from './item-list.ts';
import { FS } from './program.ts';
import { refusal } from './words.ts';

export interface RcloneItem extends ObjectStat {
  /** Path below the destination's folder. */
  readonly path: string;
  readonly isFolder: boolean;
}

export interface Commands {
  readonly url: string;
  /** Undefined when there is no file or folder of that name. */
  stat(path: string, signal: AbortSignal): Promise<RcloneItem | undefined>;
  /**
   * All items below a folder; undefined when the folder does not exist, or when one below it vanished during the list.
   */
  list(path: string, signal: AbortSignal): Promise<readonly RcloneItem[] | undefined>;
  makeFolder(path: string, signal: AbortSignal): Promise<void>;
  upload(
    path: string,
    body: Uint8Array,
    pace: UploadPace | undefined,
    key: string,
    signal: AbortSignal,
  ): Promise<void>;
  move(from: string, to: string, signal: AbortSignal): Promise<void>;
  remove(path: string, signal: AbortSignal): Promise<'removed' | 'absent'>;
  /** Undefined when there is no such object. */
  read(
    path: string,
    part: { readonly start: number; readonly length: number },
    signal: AbortSignal,
  ): Promise<Buffer | undefined>;
}

/** Reads the answer; undefined when it is not JSON. */
type ReadAnswer = (reply: HttpReply, moving: Moving) => Promise<unknown>;

type Outcome = { readonly value: unknown } | { readonly failure: string };

/**
 * rclone accepts what it is given at once, and answers only when it has passed it on. It watches that connection
 * itself, and gives up when nothing has moved on it for five minutes.
 */
const patient = { stallMs: 30 * 60_000 };
/** Milliseconds between two checks whether rclone still responds. */
const ALIVE_EVERY_MS = 60_000;

const answers = [200, 400, 401, 403, 404, 500, 503];

export interface CommandOptions {
  /** Milliseconds between two checks whether rclone still responds. */
  readonly aliveEveryMs?: number;
  /** Ends every command with its reason. */
  readonly grown?: AbortSignal;
}

export function commandsOf(
  siteOf: () => Promise<HttpSite>,
  url: string,
  { aliveEveryMs = ALIVE_EVERY_MS, grown = new AbortController().signal }: CommandOptions = {},
): Commands {
  async function ask(
    request: Omit<HttpRequest, 'method' | 'accepts'>,
    signal: AbortSignal,
    read: ReadAnswer = async (reply, moving) => parsed(await textOf(reply, moving, LARGEST_PAGE)),
  ): Promise<Outcome> {
    signal.throwIfAborted();
    const site = await siteOf();
    const wanted = AbortSignal.any([signal, grown]);
    if (request.stallMs !== undefined)
      return await whileAlive(site, wanted, async (until) => await send(site, request, until, read));
    return await send(site, request, wanted, read);
  }

  async function send(
    site: HttpSite,
    request: Omit<HttpRequest, 'method' | 'accepts'>,
    signal: AbortSignal,
    read: ReadAnswer,
  ): Promise<Outcome> {
    return await site.ask({ ...request, method: 'POST', accepts: answers }, signal, async (reply, moving) => {
      const value = await read(reply, moving);
      if (reply.status === 200 && value !== undefined) return { value };
      const said = value as { readonly error?: unknown } | undefined;
      return {
        failure: typeof said?.error === 'string' ? said.error : `it answers with status ${reply.status}`,
      };
    });
  }

  /**
   * Runs `work`, which may take long without an answer, and checks meanwhile that rclone still responds: a hanging
   * rclone would never answer.
   */
  async function whileAlive<T>(
    site: HttpSite,
    signal: AbortSignal,
    work: (signal: AbortSignal) => Promise<T>,
  ): Promise<T> {
    const over = new AbortController();
    const hangs = new AbortController();
    const watch = async (): Promise<void> => {
      const noop = { method: 'POST', path: '/rc/noop', op: 'ask rclone', accepts: answers };
      for (;;) {
        await sleepFor(aliveEveryMs, over.signal);
        await site.ask(noop, over.signal, drain);
      }
    };
    watch().catch((error: unknown) => hangs.abort(error));
    try {
      return await work(AbortSignal.any([signal, hangs.signal]));
    } finally {
      over.abort();
    }
  }

  async function command(
    name: string,
    op: string,
    input: object,
    signal: AbortSignal,
    patience: { readonly stallMs?: number } = {},
    read?: ReadAnswer,
  ): Promise<Outcome> {
    const body = Buffer.from(JSON.stringify({ fs: FS, ...input }));
    const headers = { 'Content-Type': 'application/json' };
    return await ask({ path: `/${name}`, headers, body, op, ...patience }, signal, read);
  }

  function valueOf(outcome: Outcome, op: string, key: string): unknown {
    if ('value' in outcome) return outcome.value;
    throw refusal(outcome.failure, op, key, url);
  }

  async function stat(path: string, signal: AbortSignal): Promise<RcloneItem | undefined> {
    const outcome = await command('operations/stat', 'inspect', { remote: path }, signal);
    if ('failure' in outcome && isAbsence(outcome.failure)) return undefined;
    const { item } = valueOf(outcome, 'inspect', path) as { readonly item?: unknown };
    return item === null || item === undefined ? undefined : itemOf(item, url);
  }

  async function list(path: string, signal: AbortSignal): Promise<readonly RcloneItem[] | undefined> {
    const opt = { recurse: true, noMimeType: true };
    let items: RcloneItem[] = [];
    let named = 0;
    const read: ReadAnswer = async (reply, moving) => {
      items = [];
      named = 0;
      const bound = new ListBound(url);
      return await entriesOf(reply, moving, (entry) => {
        const item = itemOf(entry, url);
        named += 1;
        bound.count(item.path);
        // It is none of a repository's, and storages tell of names of any length.
        if (item.path.length <= LONGEST_KEY) items.push(item);
      });
    };
    const outcome = await command('operations/list', 'list', { remote: path, opt }, signal, patient, read);
    if ('failure' in outcome && isAbsence(outcome.failure)) return undefined;
    const { list: entries } = valueOf(outcome, 'list', path) as { readonly list?: unknown };
    // Go encodes an empty list as null.
    const count = entries === null ? 0 : Array.isArray(entries) ? entries.length : undefined;
    if (count === named) return items;
    throw senseless(url, 'list');
  }

  async function upload(
    path: string,
    body: Uint8Array,
    pace: UploadPace | undefined,
    key: string,
    signal: AbortSignal,
  ): Promise<void> {
    const slash = path.lastIndexOf('/');
    const boundary = 'holdfast-object';
    const before = [
      `--${boundary}`,
      `Content-Disposition: form-data; name="file"; filename="${path.slice(slash + 1)}"`,
      'Content-Type: application/octet-stream',
      '',
      '',
    ].join('\r\n');
    const query = new URLSearchParams({ fs: FS, remote: path.slice(0, Math.max(0, slash)) });
    const request = {
      path: `/operations/uploadfile?${query.toString()}`,
      headers: { 'Content-Type': `multipart/form-data; boundary=${boundary}` },
      body,
      frame: { before: Buffer.from(before), after: Buffer.from(`\r\n--${boundary}--\r\n`) },
      pace,
      key,
      op: 'store',
      ...patient,
    };
    valueOf(await ask(request, signal), 'store', key);
  }

  async function move(from: string, to: string, signal: AbortSignal): Promise<void> {
    const input = { srcFs: FS, srcRemote: from, dstFs: FS, dstRemote: to };
    valueOf(await command('operations/movefile', 'store', input, signal, patient), 'store', to);
  }

  async function makeFolder(path: string, signal: AbortSignal): Promise<void> {
    valueOf(await command('operations/mkdir', 'open', { remote: path }, signal), 'open', path);
  }

  async function remove(path: string, signal: AbortSignal): Promise<'removed' | 'absent'> {
    const outcome = await command('operations/deletefile', 'delete', { remote: path }, signal);
    if ('failure' in outcome && isAbsence(outcome.failure)) return 'absent';
    valueOf(outcome, 'delete', path);
    return 'removed';
  }

  async function read(
    path: string,
    { start, length }: { readonly start: number; readonly length: number },
    signal: AbortSignal,
  ): Promise<Buffer | undefined> {
    const request = {
      method: 'GET',
      path: `/${encodeURIComponent(`[${FS}]`)}/${path.split('/').map(encodeURIComponent).join('/')}`,
      headers: { Range: `bytes=${start}-${start + length - 1}` },
      op: 'read',
      key: path,
      accepts: [200, 206, 404, 416],
    };
    signal.throwIfAborted();
    const site = await siteOf();
    return await site.ask(request, AbortSignal.any([signal, grown]), async (reply, moving) => {
      if (reply.status === 404) {
        await drain(reply, moving);
        return undefined;
      }
      if (isPart(reply, start, length)) return await collectBody(reply.stream, length, path, moving);
      reply.stream.destroy();
      throw senseless(url, 'read');
    });
  }

  return { url, stat, list, makeFolder, upload, move, remove, read };
}

function isPart({ status, headers }: HttpReply, start: number, length: number): boolean {
  if (Number(headers['content-length']) !== length) return false;
  if (status === 200) return start === 0;
  return (
    status === 206 && headers['content-range']?.startsWith(`bytes ${start}-${start + length - 1}/`) === true
  );
}

/** Passes each entry of the list in the answer to `take`, and returns the answer without them. */
async function entriesOf(
  { stream }: HttpReply,
  { moved }: Moving,
  take: (entry: unknown) => void,
): Promise<unknown> {
  const reader = new ItemListReader(take);
  for await (const chunk of stream as AsyncIterable<Buffer>) {
    moved(chunk.byteLength);
    reader.push(chunk);
  }
  return reader.end();
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}

function itemOf(value: unknown, url: string): RcloneItem {
  const {
    Path: path,
    Size: size,
    ModTime: time,
    IsDir: isFolder,
  } = (value ?? {}) as Readonly<Record<string, unknown>>;
  const modifiedMs = typeof time === 'string' ? Date.parse(time) : Number.NaN;
  if (typeof path !== 'string' || typeof size !== 'number' || typeof isFolder !== 'boolean')
    throw senseless(url, 'list');
  return { path, size, modifiedMs: Math.floor(modifiedMs), isFolder };
}

/**
 * Size and time of an item.
 * @throws {DestinationError} unsupported when the storage does not tell one of them, as for documents that it generates
 *   when they are read
 */
export function statOf({ path, size, modifiedMs }: RcloneItem, url: string): ObjectStat {
  if (size >= 0 && !Number.isNaN(modifiedMs)) return { size, modifiedMs };
  const what = size < 0 ? 'how large it is' : 'when it was stored';
  throw new DestinationError('unsupported', `rclone does not say of ${path} in ${url} ${what}`, {
    op: 'inspect',
    hint: 'See what "rclone lsjson" shows for it. If this affects all files, use another storage.',
    details: { key: path, url },
  });
}

function isAbsence(text: string): boolean {
  return /(?:object|directory|file) not found|is a directory not a file|not a directory|file name too long/i.test(
    text,
  );
}

function senseless(url: string, op: string): DestinationError {
  return new DestinationError('corrupt-reply', `Cannot ${op} in ${url}: rclone’s answer is not valid`, {
    op,
    hint: 'Update rclone; 1.60 is the oldest version known to work.',
    retry: 'now',
  });
}
