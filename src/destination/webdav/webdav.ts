/** A folder on a WebDAV server as a destination: the key is the relative path. */
import { ListBound } from '../bounds.ts';
import { readFile } from 'node:fs/promises';
import { causeText } from '../../base/errno-words.ts';
import { DestinationError } from '../../base/errors.ts';
import { looseText } from '../../base/people-text.ts';
import type { WebdavAccess } from '../access.ts';
import { extentOf } from '../byte-range.ts';
import type { ByteRange, Destination, ListedObject, ObjectStat, Leftovers } from '../destination.ts';
import { DENIED, failure } from '../http-failure.ts';
import { openHttpSite } from '../http-site.ts';
import { checkKey, checkPrefix, isKeyPart } from '../key.ts';
import type { UploadPace } from '../limited.ts';
import { plainUrl, type WebdavPlace } from '../location.ts';
import { settledSoon, untilAborted } from '../stall.ts';
import { untold } from './dav-failure.ts';
import { folderAt, type Folder, type ReadRange, type ReadResult } from './folder.ts';
import { findAbilities, statOf, storeObject, type Abilities } from './store.ts';
import { walkObjects } from './walk.ts';
import { removeStale, type Leftover } from '../leftovers.ts';
import { isTemporaryName, temporaryName } from '../new-file.ts';

export interface WebdavOptions {
  /** Creates the folder when it is absent. */
  readonly create?: boolean | undefined;
  readonly pace?: UploadPace | undefined;
}

const pageLength = 1000;
const maxParallel = 16;
/** Each object may have a few requests under way at once. */
const maxSockets = 32;

/** A range that is counted from the end is requested as such, if no more than this many extra bytes come with it. */
const mostBesides = 256 * 1024;

const live = new AbortController().signal;

/**
 * Opens the folder. Rejects with `not-found` when it is absent (unless `create`), `denied` when the server refuses the
 * sign-in or its certificate is not trusted, `unsupported` when it is not a folder, and `unreachable`.
 */
export async function openWebdavDestination(
  place: WebdavPlace,
  access: WebdavAccess,
  options: WebdavOptions = {},
  signal: AbortSignal = live,
): Promise<Destination> {
  const { origin, pathname } = new URL(place.url);
  const url = plainUrl(place);
  const site = openHttpSite({
    origin,
    url,
    credentials: { user: place.user ?? access.user, password: access.password, token: access.token },
    certificates: access.caFile === undefined ? undefined : await certificatesIn(access.caFile),
    maxSockets,
  });
  try {
    const path = pathname.replace(/\/+$/, '');
    const folder = folderAt(site, origin, path, url);
    const found = await folder.look('', signal);
    if (found === undefined) {
      if (options.create !== true) throw noFolder(url, 'not-found', 'it does not exist');
      await makeFolders(folderAt(site, origin, '', url), path, signal);
    }
    if (found?.isFolder === false) throw noFolder(url, 'unsupported', 'it is not a folder');
    return webdavDestination(folder, options.pace);
  } catch (error) {
    site.close();
    throw error;
  }
}

async function certificatesIn(file: string): Promise<string> {
  try {
    return looseText(await readFile(file));
  } catch (error) {
    throw new DestinationError('denied', `${file} cannot be read: ${causeText(error)}`, {
      op: 'open',
      hint: 'Use a file with certificates in PEM format.',
      cause: error,
    });
  }
}

function noFolder(url: string, kind: 'not-found' | 'unsupported', what: string): DestinationError {
  const hint = 'Check the address: it must be a folder that WebDAV clients can use.';
  return new DestinationError(kind, `Cannot open ${url}: ${what}`, { op: 'open', hint });
}

async function makeFolders(root: Folder, path: string, signal: AbortSignal): Promise<void> {
  const parts = path.split('/').slice(1).map(decodeURIComponent);
  let refusal: DestinationError | undefined;
  for (const depth of parts.keys()) {
    const name = parts.slice(0, depth + 1).join('/');
    // Folders above may be inaccessible to this account although they exist.
    const isLast = depth === parts.length - 1;
    const outcome = await root.makeFolder(name, signal).catch((error: unknown) => {
      if (isLast || !(error instanceof DestinationError) || error.kind === 'unreachable') throw error;
      refusal ??= error;
    });
    // Where a folder above is missing, the reason is why it could not be made.
    if (isLast && outcome === 'no-folder')
      throw refusal ?? noFolder(root.url, 'not-found', 'it cannot be created');
  }
}

function webdavDestination(folder: Folder, pace: UploadPace | undefined): Destination {
  const inFlight = new Set<Promise<unknown>>();
  let abilities: Abilities | undefined;
  let finding: Promise<Abilities> | undefined;
  /** Names that could not be removed because the connection was lost. */
  const leftovers = new Set<string>();
  const known = new Set<string>();

  /**
   * Runs `work` so that an abort rejects at once. The work still cleans up after itself, and `close` waits for that, for a moment.
   */
  async function run<T>(signal: AbortSignal, work: () => Promise<T>): Promise<T> {
    signal.throwIfAborted();
    const running = work();
    inFlight.add(running);
    void Promise.allSettled([running]).then(() => inFlight.delete(running));
    return await untilAborted(running, signal);
  }

  /**
   * Finds out what the server can do, at the first put and once for all concurrent puts. Not when the folder is opened,
   * as a full server must still be readable.
   */
  async function abilitiesForPut(): Promise<Abilities> {
    finding ??= findAbilities(folder, live);
    try {
      return (abilities = await finding);
    } catch (error) {
      finding = undefined;
      throw error;
    }
  }

  function absent(op: string, key: string): DestinationError {
    return new DestinationError(
      'not-found',
      `Cannot ${op} ${key} in ${folder.url}: there is no such object`,
      {
        op,
        hint: 'Check that this is the right destination, and that nothing was removed from it.',
        details: { key },
      },
    );
  }

  /** Called before an object is reported as absent: the folder itself may be gone. */
  async function expectFolder(op: string, signal: AbortSignal): Promise<void> {
    if ((await folder.look('', signal))?.isFolder === true) return;
    throw new DestinationError('unreachable', `${folder.url} is no longer there`, {
      op,
      hint: 'Check that the disk of the folder is mounted on the server.',
      retry: 'later',
    });
  }

  async function put(key: string, body: Uint8Array, signal: AbortSignal): Promise<ObjectStat> {
    checkKey(key);
    return await run(signal, async () => {
      const paced = { pace, key };
      const names = [...leftovers];
      leftovers.clear();
      await Promise.allSettled(names.map(async (name) => await folder.remove(name, signal)));
      const left = (name: string): unknown => leftovers.add(name);
      const manner = { folder, abilities: await abilitiesForPut(), key, paced, known, left };
      return await storeObject(manner, body, signal);
    });
  }

  async function get(key: string, range: ByteRange | undefined, signal: AbortSignal): Promise<Buffer> {
    checkKey(key);
    return await run(signal, async () => {
      const wanted = await rangeOf(key, range, signal);
      if (wanted === 'nothing') return Buffer.allocUnsafeSlow(0);
      const { kind, size, start, bytes } = await folder.read(key, wanted, signal);
      if (kind === 'absent') {
        await expectFolder('read', signal);
        throw absent('read', key);
      }
      // The answer is about a folder or about a part that does not exist; the properties of the name tell which.
      if (kind !== 'bytes') return await explain(key, range, kind, signal);
      const extent = extentOf(range, size, key);
      const from = extent.start - start;
      if (from === 0 && extent.length === bytes.byteLength) return bytes;
      const part = Buffer.allocUnsafeSlow(extent.length);
      bytes.copy(part, 0, from, from + extent.length);
      return part;
    });
  }

  async function rangeOf(
    key: string,
    range: ByteRange | undefined,
    signal: AbortSignal,
  ): Promise<ReadRange | 'nothing' | undefined> {
    if (range === undefined) return undefined;
    const { offset, length } = range;
    const isUsual = Number.isSafeInteger(offset) && Number.isSafeInteger(length) && length > 0;
    if (isUsual && offset >= 0) return { start: offset, end: offset + length - 1 };
    if (isUsual && length <= -offset && -offset - length <= mostBesides) return { last: -offset };
    const extent = extentOf(range, (await statObject(key, signal, 'read')).size, key);
    return extent.length === 0 ? 'nothing' : { start: extent.start, end: extent.start + extent.length - 1 };
  }

  async function explain(
    key: string,
    range: ByteRange | undefined,
    kind: Exclude<ReadResult['kind'], 'bytes'>,
    signal: AbortSignal,
  ): Promise<never> {
    const { size } = await statObject(key, signal, 'read');
    extentOf(range, size, key);
    if (kind === 'refusal') throw failure(DENIED, { op: 'read', url: folder.url, key });
    throw new DestinationError('corrupt-reply', `${folder.url} sends a ${kind} instead of ${key}`, {
      op: 'read',
      hint: 'Check that no proxy or network sign-in page answers instead of the server.',
      retry: 'now',
      details: { key },
    });
  }

  async function statObject(key: string, signal: AbortSignal, op: string): Promise<ObjectStat> {
    const entry = await folder.look(key, signal);
    const stat = entry === undefined ? undefined : statOf(entry);
    if (stat !== undefined) return stat;
    if (entry === undefined) await expectFolder(op, signal);
    else if (!entry.isFolder) throw untold(folder.url, key, entry);
    throw absent(op, key);
  }

  async function* list(prefix: string, signal: AbortSignal): AsyncGenerator<readonly ListedObject[]> {
    checkPrefix(prefix);
    signal.throwIfAborted();
    let page: ListedObject[] = [];
    for await (const objects of walkObjects(folder, prefix, signal)) {
      for (const object of objects) {
        page.push(object);
        if (page.length < pageLength) continue;
        yield page;
        signal.throwIfAborted();
        page = [];
      }
    }
    // Checked at the end, so that it holds for the whole list.
    await expectFolder('list', signal);
    if (page.length > 0) yield page;
  }

  async function remove(key: string, signal: AbortSignal): Promise<void> {
    checkKey(key);
    await run(signal, async () => {
      // Looked at first, as deleting a folder would remove everything in it.
      const entry = await folder.look(key, signal);
      if (entry?.isFolder === true) return;
      const isGone = entry === undefined || (await folder.remove(key, signal)) === 'absent';
      if (isGone) await expectFolder('delete', signal);
    });
  }

  async function close(): Promise<void> {
    await settledSoon(inFlight);
    folder.close();
  }

  return {
    get properties() {
      return {
        url: folder.url,
        conditionalCreate: abilities?.claims ?? false,
        canDelete: true,
        maxParallel,
        remote: true,
      };
    },
    put,
    get,
    stat: async (key, signal) => {
      checkKey(key);
      return await run(signal, async () => await statObject(key, signal, 'inspect'));
    },
    list,
    delete: remove,
    removeLeftovers: async (signal) => await run(signal, async () => await removeLeftovers(folder, signal)),
    close,
  };
}

/** Removes temporary objects once they are a day old by the server's clock. */
async function removeLeftovers(folder: Folder, signal: AbortSignal): Promise<Leftovers> {
  const nowMs = await timeAt(folder, signal);
  const remove = async (name: string): Promise<boolean> => (await folder.remove(name, signal)) === 'removed';
  return await removeStale(temporariesIn(folder, signal), nowMs, remove, signal);
}

/** The server's current time, taken from an object that is stored for that; 0 when the server does not say. */
async function timeAt(folder: Folder, signal: AbortSignal): Promise<number> {
  const probe = temporaryName();
  await folder.put(probe, Buffer.from('1'), undefined, signal);
  try {
    return (await folder.look(probe, signal))?.modifiedMs ?? 0;
  } finally {
    await folder.remove(probe, signal);
  }
}

async function* temporariesIn(folder: Folder, signal: AbortSignal): AsyncGenerator<Leftover> {
  const bound = new ListBound(folder.url);
  const waiting = [''];
  for (let name = waiting.pop(); name !== undefined; name = waiting.pop()) {
    const below = name === '' ? '' : `${name}/`;
    for (const [child, entry] of (await folder.children(name, bound.folder(name), signal)) ?? []) {
      const { isFolder, size = 0, modifiedMs } = entry;
      if (isFolder && isKeyPart(child)) waiting.push(below + child);
      else if (isTemporaryName(child) && modifiedMs !== undefined)
        yield { name: `${below}${child}${isFolder ? '/' : ''}`, size, modifiedMs };
    }
  }
}
