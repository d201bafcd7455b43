/** The WebDAV requests to one folder of a server and what is below it, by name. */
import { collectBody } from '../body.ts';
import { LARGEST_FOLDER, LARGEST_PAGE, LONGEST_KEY, type FolderBound } from '../bounds.ts';
import { NOT_THE_STORE, SENSELESS, failure, isWebPage, meaningOfStatus } from '../http-failure.ts';
import { drain, eachText } from '../http-site.ts';
import type { HttpReply, HttpRequest, HttpSite, TakeReply } from '../http-site.ts';
import type { UploadPace } from '../limited.ts';
import { sleepFor } from '../retry.ts';
import type { Moving } from '../stall.ts';
import { DestinationError } from '../../base/errors.ts';
import { isAbsence, isKind, refused, senseless, withheld } from './dav-failure.ts';
import { multistatusReader } from './multistatus.ts';
import type { DavEntry } from './multistatus.ts';

export interface Folder {
  /** For people. */
  readonly url: string;
  /** Undefined when there is nothing of that name. */
  look(name: string, signal: AbortSignal): Promise<DavEntry | undefined>;
  /** What is in a folder, by name; undefined when there is no such folder. */
  children(
    name: string,
    bound: FolderBound,
    signal: AbortSignal,
  ): Promise<ReadonlyMap<string, DavEntry> | undefined>;
  put(
    name: string,
    body: Uint8Array,
    pace: PutPace | undefined,
    signal: AbortSignal,
  ): Promise<'stored' | 'no-folder'>;
  /** Rejects with `denied` and the like; a folder that exists is a result, not an error. */
  makeFolder(name: string, signal: AbortSignal): Promise<'made' | 'exists' | 'no-folder'>;
  /** Never replaces what is there, as far as the server follows the standard. */
  move(from: string, to: string, signal: AbortSignal): Promise<'moved' | 'exists'>;
  /** Removes a file, or a folder with everything in it when the name ends in a slash. */
  remove(name: string, signal: AbortSignal): Promise<'removed' | 'absent'>;
  /** The bytes from `start` to `end`, both included, or the whole object. */
  read(name: string, range: ReadRange | undefined, signal: AbortSignal): Promise<ReadResult>;
  close(): void;
}

export interface PutPace {
  readonly pace: UploadPace | undefined;
  /** The object's final key, for the pace and for messages. */
  readonly key: string;
}

/** The last `last` bytes, or those from `start` to `end`, both included. */
export type ReadRange = { readonly last: number } | { readonly start: number; readonly end: number };

export interface ReadResult {
  /**
   * `beyond`: the object has no such part. `page`, `refusal`: the answer is not the content of an object; the name may
   * be a folder.
   */
  readonly kind: 'bytes' | 'absent' | 'beyond' | 'page' | 'refusal';
  /** Size of the whole object. */
  readonly size: number;
  readonly start: number;
  readonly bytes: Buffer;
}

/**
 * Tries while a name is locked. Some servers lock names during a request; with the pauses below, six seconds in all.
 */
const lockTries = 15;
const lockPauseMs = 50;

const answerTries = 3;

const redirects: readonly number[] = [301, 302, 303, 307, 308];

const question =
  '<?xml version="1.0" encoding="utf-8"?><propfind xmlns="DAV:"><prop><resourcetype/><getcontentlength/><getlastmodified/></prop></propfind>';

/**
 * @param origin of the server: `https://host:port`
 * @param path of the folder on the server, encoded, without a trailing slash
 */
export function folderAt(site: HttpSite, origin: string, path: string, url: string): Folder {
  /** The server wants a path in the Destination header, not a whole URL. */
  let nameless = false;
  const pathOf = (name: string): string => (name === '' ? `${path}/` : `${path}/${encodePath(name)}`);

  /**
   * Sends a request. The only redirect that is accepted is the one to the same name with a slash, which says that there
   * is a folder. Others may lead to a sign-in page, and one may answer by itself.
   */
  async function ask<T>(request: HttpRequest, signal: AbortSignal, take: TakeReply<T>): Promise<T> {
    const isPlainExpected = request.accepts.includes(200);
    const accepts = [...request.accepts, ...redirects, ...(isPlainExpected ? [] : [200])];
    return await site.ask({ ...request, accepts }, signal, async (reply, moving) => {
      const { status, headers } = reply;
      if (status === 200 && !isPlainExpected) {
        reply.stream.destroy();
        const told = isWebPage(headers['content-type']) ? NOT_THE_STORE : SENSELESS;
        throw failure(told, { op: request.op, url, key: request.key });
      }
      if (!redirects.includes(status)) return await take(reply, moving);
      const to = targetOf(`${origin}${request.path}`, headers.location);
      if (to === 'folder') return await take(reply, moving);
      reply.stream.destroy();
      const told = to === 'address' ? meaningOfStatus(status) : NOT_THE_STORE;
      throw failure(told, { op: request.op, url, key: request.key });
    });
  }

  async function properties(
    name: string,
    bound: FolderBound | undefined,
    signal: AbortSignal,
  ): Promise<readonly DavEntry[] | 'refused' | undefined> {
    const depth = bound === undefined ? '0' : '1';
    const request = {
      method: 'PROPFIND',
      path: pathOf(name),
      headers: { Depth: depth, 'Content-Type': 'application/xml; charset=utf-8' },
      body: Buffer.from(question),
      op: depth === '0' ? 'inspect' : 'list',
      key: name === '' ? undefined : name,
      accepts: [207, 400, 404, 410],
    };
    for (let tries = 1; ; tries += 1) {
      const answer = await ask(request, signal, async (reply, moving) => {
        if (reply.status === 207) {
          const { entries, isWhole } = await entriesOf(reply, moving, bound);
          if (isWhole && entries.length === 0)
            throw senseless(url, request.op, 'the answer to PROPFIND does not contain what was requested');
          return isWhole ? entries : [];
        }
        await drain(reply, moving);
        // A redirect to the name with a slash means that it is a folder, so there is no object of that name.
        return reply.status === 400 ? 'refused' : undefined;
      });
      if (answer === undefined || answer === 'refused' || answer.length > 0) return answer;
      // Some servers end the answer early when a name vanishes while they list it.
      if (tries >= answerTries)
        throw senseless(url, request.op, 'the answer to PROPFIND is incomplete or invalid', false);
    }
  }

  async function look(name: string, signal: AbortSignal): Promise<DavEntry | undefined> {
    const entries = await properties(name, undefined, signal);
    if (entries === 'refused') return await belowFile(name, signal);
    const [entry] = entries ?? [];
    if (entry?.refused === undefined) return entry;
    // Some servers report that inside of the list instead of by the status of the answer.
    if (isAbsence(entry.refused)) return undefined;
    throw withheld(url, 'inspect', name, entry.refused);
  }

  /** Apache answers 400 for a name below a file: nothing of that name exists. */
  async function belowFile(name: string, signal: AbortSignal): Promise<undefined> {
    const parent = name.replace(/\/+$/, '').replace(/\/?[^/]*$/, '');
    const entry = name.endsWith('/') ? await look(name.slice(0, -1), signal) : undefined;
    if (entry?.isFolder === false) return undefined;
    if (parent !== '' && (await look(parent, signal))?.isFolder !== true) return undefined;
    throw senseless(url, 'inspect', `the server does not understand the question about ${name}`);
  }

  async function children(
    name: string,
    bound: FolderBound,
    signal: AbortSignal,
  ): Promise<ReadonlyMap<string, DavEntry> | undefined> {
    const entries = await properties(name === '' ? '' : `${name}/`, bound, signal);
    if (entries === 'refused') return await belowFile(`${name}/`, signal);
    if (entries === undefined) return undefined;
    // Behind a proxy the server may use another path for itself; its own folder is the entry with the shortest path.
    const own = entries.reduce((shortest, entry) =>
      entry.path.length < shortest.path.length ? entry : shortest,
    );
    if (name !== '' && !own.path.endsWith(`/${nameThere(name)}`))
      throw senseless(url, 'list', 'the list is of another folder, or without the folder itself');
    if (own.refused !== undefined && !isAbsence(own.refused)) throw withheld(url, 'list', name, own.refused);
    if (!own.isFolder) return undefined;
    const found = new Map<string, DavEntry>();
    for (const entry of entries) {
      // An entry that vanished while the server made the list.
      if (entry === own || isAbsence(entry.refused)) continue;
      const child = entry.path.slice(own.path.length + 1);
      if (!entry.path.startsWith(`${own.path}/`) || child === '' || child.includes('/') || found.has(child))
        throw senseless(url, 'list', 'the list contains something that is not in the folder');
      found.set(decodeName(child), entry);
    }
    return found;
  }

  /** For requests of whose reply only the status matters. A name that another request has locked is tried again. */
  async function status(request: HttpRequest, signal: AbortSignal): Promise<number> {
    for (let tries = 1; ; tries += 1) {
      try {
        return await ask(request, signal, async (reply, moving) => {
          await drain(reply, moving);
          return reply.status;
        });
      } catch (error) {
        const isLocked = error instanceof DestinationError && error.details['status'] === 423;
        if (!isLocked || tries >= lockTries) throw error;
      }
      await sleepFor(lockPauseMs * tries, signal);
    }
  }

  async function put(
    name: string,
    body: Uint8Array,
    paced: PutPace | undefined,
    signal: AbortSignal,
  ): Promise<'stored' | 'no-folder'> {
    const request = {
      method: 'PUT',
      path: pathOf(name),
      headers: { 'Content-Type': 'application/octet-stream' },
      body,
      pace: paced?.pace,
      key: paced?.key ?? name,
      op: 'store',
      accepts: [200, 201, 204, 404, 409],
    };
    const answer = await status(request, signal);
    return answer === 404 || answer === 409 ? 'no-folder' : 'stored';
  }

  async function makeFolder(name: string, signal: AbortSignal): Promise<'made' | 'exists' | 'no-folder'> {
    const request = {
      method: 'MKCOL',
      path: pathOf(`${name}/`),
      op: 'store',
      key: name,
      accepts: [200, 201, 404, 405, 409],
    };
    for (let tries = 1; ; tries += 1) {
      let refusal: unknown;
      const answer = await status(request, signal).catch((error: unknown) => {
        if (!(error instanceof DestinationError) || error.details['status'] !== 403) throw error;
        refusal = error;
        return 403;
      });
      if (answer === 405) return 'exists';
      if (answer !== 403) return answer === 404 || answer === 409 ? 'no-folder' : 'made';
      // Apache may answer this to the second of two simultaneous requests. The folder of the first may be gone by now.
      if ((await look(`${name}/`, signal))?.isFolder === true) return 'exists';
      if (tries >= answerTries) throw refused(url, name, refusal);
    }
  }

  async function move(from: string, to: string, signal: AbortSignal): Promise<'moved' | 'exists'> {
    const attempt = async (destination: string, accepts: readonly number[]): Promise<number> => {
      const headers = { Destination: destination, Overwrite: 'F' };
      return await status(
        { method: 'MOVE', path: pathOf(from), headers, op: 'store', key: to, accepts },
        signal,
      );
    };
    const good = [200, 201, 204, 412];
    // Behind a proxy a server may not recognise its own external address in the Destination header.
    const first = nameless ? 400 : await attempt(`${origin}${pathOf(to)}`, [...good, 400, 502]);
    if (first !== 400 && first !== 502) return first === 412 ? 'exists' : 'moved';
    const second = await attempt(pathOf(to), good).catch((error: unknown) => {
      // The proxy's 502 for the first request remains the error, unless the second answer says more.
      const isLess = isKind(error, 'not-found') || isKind(error, 'unsupported');
      throw first === 502 && isLess
        ? failure(meaningOfStatus(502), { op: 'store', url, key: to }, error, {
            status: 502,
            code: undefined,
            retryAfterMs: undefined,
          })
        : error;
    });
    nameless = true;
    return second === 412 ? 'exists' : 'moved';
  }

  async function remove(name: string, signal: AbortSignal): Promise<'removed' | 'absent'> {
    const request = {
      method: 'DELETE',
      path: pathOf(name),
      op: 'delete',
      key: name,
      accepts: [200, 202, 204, 404, 410],
    };
    const answer = await status(request, signal);
    return answer === 404 || answer === 410 ? 'absent' : 'removed';
  }

  async function read(name: string, range: ReadRange | undefined, signal: AbortSignal): Promise<ReadResult> {
    const request = {
      method: 'GET',
      path: pathOf(name),
      headers: {
        'Accept-Encoding': 'identity',
        ...(range === undefined ? {} : { Range: rangeHeader(range) }),
      },
      op: 'read',
      key: name,
      accepts: [200, 206, 403, 404, 405, 410, 416],
    };
    return await ask(request, signal, async (reply, moving) => await resultOf(name, range, reply, moving));
  }

  async function resultOf(
    name: string,
    range: ReadRange | undefined,
    reply: HttpReply,
    moving: Moving,
  ): Promise<ReadResult> {
    const other = otherThanBytes(name, reply);
    if (other !== undefined) {
      await drain(reply, moving);
      return { kind: other, size: 0, start: 0, bytes: Buffer.alloc(0) };
    }
    const length = Number(reply.headers['content-length'] ?? Number.NaN);
    const extent =
      reply.status === 206 ? extentOf(reply.headers['content-range'], length) : { start: 0, size: length };
    if (
      extent === undefined ||
      !Number.isSafeInteger(length) ||
      !isAsked(range, reply.status, extent, length)
    ) {
      reply.stream.destroy();
      throw senseless(url, 'read', `the reply for ${name} is for a different part than requested`);
    }
    return { kind: 'bytes', ...extent, bytes: await collectBody(reply.stream, length, name, moving) };
  }

  return { url, look, children, put, makeFolder, move, remove, read, close: () => site.close() };
}

/** What is said in an answer, taken in while it comes. */
async function entriesOf(
  reply: HttpReply,
  moving: Moving,
  bound: FolderBound | undefined,
): Promise<{ readonly entries: readonly DavEntry[]; readonly isWhole: boolean }> {
  bound?.restart();
  const entries: DavEntry[] = [];
  const reader = multistatusReader((entry) => {
    const name = entry.path.slice(entry.path.lastIndexOf('/') + 1);
    bound?.count(name);
    if (name.length <= LONGEST_KEY) entries.push(entry);
  });
  await eachText(reply, moving, bound === undefined ? LARGEST_PAGE : LARGEST_FOLDER, (text) =>
    reader.push(text),
  );
  return { entries, isWhole: reader.isWhole() };
}

/** Names that begin with a dot are hidden by nginx and closed by many: they get a `~`, which is in no key. */
function nameThere(name: string): string {
  return name
    .split('/')
    .map((part) => (part.startsWith('.') ? `~${part}` : part))
    .join('/');
}

function encodePath(name: string): string {
  return nameThere(name).split('/').map(encodeURIComponent).join('/');
}

function decodeName(name: string): string {
  return name.startsWith('~.') ? name.slice(1) : name;
}

/**
 * Where a redirect leads: `folder` the same name with a slash, `address` the same path at another address, or
 * elsewhere.
 */
function targetOf(asked: string, location: string | undefined): 'folder' | 'address' | 'elsewhere' {
  const from = new URL(asked);
  if (location === undefined || !URL.canParse(location, from)) return 'elsewhere';
  const to = new URL(location, from);
  const [own, other] = [from.pathname, to.pathname].map((path) =>
    path.replaceAll(/%[0-9a-f]{2}/gi, (code) => code.toUpperCase()),
  );
  if (other === `${own}/`) return 'folder';
  return other === own && to.origin !== from.origin && to.search === '' ? 'address' : 'elsewhere';
}

function rangeHeader(range: ReadRange): string {
  return 'last' in range ? `bytes=-${range.last}` : `bytes=${range.start}-${range.end}`;
}

function otherThanBytes(
  name: string,
  { status, headers }: HttpReply,
): Exclude<ReadResult['kind'], 'bytes'> | undefined {
  if (status === 404 || status === 410) return 'absent';
  if (status === 403) return 'refusal';
  if (status === 416) return 'beyond';
  if (status !== 200 && status !== 206) return 'page';
  const isPage = /^text\/html\b/i.test(headers['content-type'] ?? '') && !/\.html?$/.test(name);
  return isPage ? 'page' : undefined;
}

function extentOf(header: string | undefined, length: number): { start: number; size: number } | undefined {
  const [, first, last, whole] = /^bytes (\d+)-(\d+)\/(\d+)$/.exec(header ?? '') ?? [];
  const [start, end, size] = [Number(first), Number(last), Number(whole)];
  return first !== undefined && end - start + 1 === length && end < size ? { start, size } : undefined;
}

/**
 * Whether the reply fits the range. A server without support for ranges sends everything, and the caller takes its
 * part.
 */
function isAsked(
  range: ReadRange | undefined,
  status: number,
  { start, size }: { readonly start: number; readonly size: number },
  length: number,
): boolean {
  if (status === 200) return true;
  if (range === undefined) return false;
  if ('last' in range) return start === Math.max(0, size - range.last) && start + length === size;
  return start === range.start && start + length === Math.min(size, range.end + 1);
}
