/**
 * A directory on an SSH server as a destination: the key is the relative path, and every object is one file.
 *
 * Contents are synced where the server offers it (fsync@openssh.com). Directories cannot be synced over SFTP.
 */
import { DestinationError } from '../../base/errors.ts';
import type { SftpAccess } from '../access.ts';
import type { ByteRange, Destination, ListedObject, ObjectStat } from '../destination.ts';
import { checkKey, checkPrefix } from '../key.ts';
import { plainUrl, type SftpPlace } from '../location.ts';
import { settledSoon, untilAborted } from '../stall.ts';
import { type Abilities, findAbilities, hasLinks, type Publishing } from './abilities.ts';
import { absent, answerError, isStatus, lostFromSight, notMade, STATUS } from './answers.ts';
import { prepareTarget } from './target.ts';
import type { FileFacts, Lane } from './lane.ts';
import { Lanes } from './lanes.ts';
import { identityOf, type SftpOptions } from './place.ts';
import { removeLeftovers as removeOldLeftovers } from './leftovers.ts';
import { readObject } from './read-file.ts';
import { storeFile } from './store-file.ts';
import { walkObjects } from './walk.ts';

const pageLength = 1000;

/** Enough that each of four connections has sufficient data under way to fill a link of 100 ms. */
const maxParallel = 16;
const usualConnections = 4;

/**
 * Connects. Rejects with `denied` when the server's key is not the known one or the server does not accept the user,
 * `not-found` when the directory is absent (unless `create`), `unsupported` when it is a file, and `unreachable`.
 */
export async function openSftpDestination(
  place: SftpPlace,
  access: SftpAccess,
  options: SftpOptions = {},
  signal: AbortSignal = new AbortController().signal,
): Promise<Destination> {
  const url = plainUrl(place);
  const target = await prepareTarget(place, url, identityOf(access, options));
  const lanes = new Lanes(target, access.connections ?? usualConnections);
  try {
    const appendOnly = access.appendOnly ?? false;
    const opening = lanes.run('question', async (lane) => {
      const root = await openRoot(lane, place.directory, url, options.create === true);
      return { root, abilities: await findAbilities(lane, root, appendOnly) };
    });
    const { root, abilities } = await untilAborted(opening, signal);
    return sftpDestination({ lanes, url, root, abilities, appendOnly, pace: options.pace });
  } catch (error) {
    lanes.close();
    signal.throwIfAborted();
    throw answerError(error, { op: 'open', url });
  }
}

/** Finds or makes the directory. Resolves with its absolute path on the server, without a trailing slash. */
async function openRoot(lane: Lane, directory: string, url: string, create: boolean): Promise<string> {
  const path = directory.startsWith('/') ? directory : `${await lane.absolute('.')}/${directory}`;
  const root = path.replace(/\/+$/, '');
  const facts = await lane.stat(root === '' ? '/' : root).catch(async (error: unknown) => {
    if (!create || !isStatus(error, STATUS.noSuchFile)) throw error;
    return await makeRoot(lane, root, url);
  });
  if (facts.type === 'directory') return root;
  const hint = 'Name a directory.';
  throw new DestinationError('unsupported', `Cannot open ${url}: it is not a directory`, {
    op: 'open',
    hint,
  });
}

/** Makes the directory with its missing parents. What the server refuses is the reason, where the directory is then missing. */
async function makeRoot(lane: Lane, root: string, url: string): Promise<FileFacts> {
  const parts = root.split('/').slice(1);
  let refusal: unknown;
  for (const depth of parts.keys()) {
    const path = `/${parts.slice(0, depth + 1).join('/')}`;
    await lane.makeDirectory(path).catch(async (error: unknown) => {
      if (error instanceof DestinationError) throw error;
      // Existing directories are refused too, and those above may not be shown to this account.
      if (refusal === undefined && (await isMissing(lane, path))) refusal = error;
    });
  }
  return await lane.stat(root).catch((error: unknown) => {
    throw isStatus(error, STATUS.noSuchFile) && refusal !== undefined ? notMade(refusal, url) : error;
  });
}

async function isMissing(lane: Lane, path: string): Promise<boolean> {
  return await lane.stat(path).then(
    () => false,
    (error: unknown) => {
      if (error instanceof DestinationError) throw error;
      return isStatus(error, STATUS.noSuchFile);
    },
  );
}

interface Opened {
  readonly lanes: Lanes;
  readonly url: string;
  readonly root: string;
  readonly abilities: Abilities;
  readonly appendOnly: boolean;
  readonly pace: SftpOptions['pace'];
}

function sftpDestination({ lanes, url, root, abilities, appendOnly, pace }: Opened): Destination {
  const inFlight = new Set<Promise<unknown>>();
  /** Temporary files that could not be removed because the connection was lost. */
  const leftovers = new Set<string>();
  const writing = { oneByOne: false };
  let { publishing } = abilities;

  /**
   * Runs calls so that an abort rejects at once. The calls under way still end and clean up, and `close` waits for
   * that, for a moment.
   */
  async function run<T>(
    op: string,
    key: string | undefined,
    signal: AbortSignal,
    work: (lane: Lane) => Promise<T>,
  ): Promise<T> {
    signal.throwIfAborted();
    const running = lanes.run(op === 'store' || op === 'read' ? 'transfer' : 'question', work);
    inFlight.add(running);
    try {
      return await untilAborted(running, signal);
    } catch (error) {
      signal.throwIfAborted();
      throw answerError(error, { op, url, key });
    } finally {
      void Promise.allSettled([running]).then(() => inFlight.delete(running));
    }
  }

  async function expectRoot(lane: Lane, cause?: unknown): Promise<void> {
    const [seen] = await Promise.allSettled([lane.stat(root === '' ? '/' : root)]);
    if (seen.status === 'fulfilled' && seen.value.type === 'directory') return;
    if (seen.status === 'rejected' && !isStatus(seen.reason, STATUS.noSuchFile)) throw seen.reason;
    throw new DestinationError('unreachable', `${url} is no longer there`, {
      op: 'open',
      hint: 'Check that the disk of the directory is mounted on the server.',
      retry: 'later',
      cause,
    });
  }

  /** Whether the refusal means that the name does not exist. Rejects when the destination itself is gone. */
  async function meansAbsent(lane: Lane, path: string, error: unknown): Promise<boolean> {
    // Some servers answer "failure" or "bad message" for a directory or for a name below a file.
    const isUnclear = isStatus(error, STATUS.failure, STATUS.badMessage, STATUS.permissionDenied);
    if (!isUnclear && !isStatus(error, STATUS.noSuchFile)) return false;
    if (isUnclear) {
      const [seen] = await Promise.allSettled([lane.stat(path)]);
      if (seen.status === 'fulfilled' && seen.value.type === 'file') return false;
      if (seen.status === 'rejected' && !isStatus(seen.reason, STATUS.noSuchFile)) return false;
    }
    await expectRoot(lane, error);
    return true;
  }

  async function removeLeftovers(lane: Lane): Promise<void> {
    const paths = [...leftovers];
    leftovers.clear();
    await Promise.allSettled(paths.map(async (path) => await lane.remove(path)));
  }

  /**
   * Stores by the current way of publishing, and once more under a claim when the failure was due to missing hard
   * links.
   */
  async function publishable<T>(lane: Lane, store: (way: Publishing) => Promise<T>): Promise<T> {
    const way = publishing;
    try {
      return await store(way);
    } catch (error) {
      const mayLackLinks =
        way === 'link' &&
        !appendOnly &&
        isStatus(error, STATUS.permissionDenied, STATUS.failure, STATUS.unsupported);
      // Another put may have found out meanwhile that there are no links. If that cannot be tried, the failure has
      // another cause.
      if (!mayLackLinks || (publishing === 'link' && (await hasLinks(lane, root).catch(() => true))))
        throw error;
      publishing = 'claim';
      return await store(publishing);
    }
  }

  async function put(key: string, body: Uint8Array, signal: AbortSignal): Promise<ObjectStat> {
    checkKey(key);
    return await run('store', key, signal, async (lane) => {
      if (leftovers.size > 0) await removeLeftovers(lane);
      const left = (path: string): unknown => leftovers.add(path);
      const storing = { lane, root, key, url, pace, appendOnly, writing, left };
      return await publishable(lane, async (way) => {
        return await storeFile({ ...storing, abilities: { ...abilities, publishing: way } }, body, signal);
      }).catch(async (error: unknown) => {
        if (!isStatus(error, STATUS.noSuchFile)) throw error;
        await expectRoot(lane, error);
        throw lostFromSight({ op: 'store', url, key }, error);
      });
    });
  }

  async function get(key: string, range: ByteRange | undefined, signal: AbortSignal): Promise<Buffer> {
    checkKey(key);
    return await run('read', key, signal, async (lane) => {
      try {
        return await readObject({ lane, root, key, url }, range, signal);
      } catch (error) {
        throw (await meansAbsent(lane, `${root}/${key}`, error))
          ? absent({ op: 'read', url, key }, error)
          : error;
      }
    });
  }

  async function statObject(key: string, signal: AbortSignal): Promise<ObjectStat> {
    checkKey(key);
    return await run('inspect', key, signal, async (lane) => {
      try {
        const { type, size, modifiedMs } = await lane.stat(`${root}/${key}`);
        if (type !== 'file') throw absent({ op: 'inspect', url, key });
        return { size, modifiedMs };
      } catch (error) {
        throw (await meansAbsent(lane, `${root}/${key}`, error))
          ? absent({ op: 'inspect', url, key }, error)
          : error;
      }
    });
  }

  async function* list(prefix: string, signal: AbortSignal): AsyncGenerator<readonly ListedObject[]> {
    checkPrefix(prefix);
    signal.throwIfAborted();
    const start = prefix.slice(0, Math.max(0, prefix.lastIndexOf('/')));
    const firstPart = prefix.slice(start === '' ? 0 : start.length + 1);
    const onLane = async <T>(work: (lane: Lane) => Promise<T>): Promise<T> =>
      await run('list', undefined, signal, work);
    let page: ListedObject[] = [];
    for await (const objects of walkObjects({ onLane, root, url, start, firstPart }, signal)) {
      for (const object of objects) {
        page.push(object);
        if (page.length < pageLength) continue;
        yield page;
        signal.throwIfAborted();
        page = [];
      }
    }
    // Checked at the end, so that it holds for the whole list.
    await run('list', undefined, signal, expectRoot);
    if (page.length > 0) yield page;
  }

  async function remove(key: string, signal: AbortSignal): Promise<void> {
    checkKey(key);
    await run('delete', key, signal, async (lane) => {
      try {
        await lane.remove(`${root}/${key}`);
      } catch (error) {
        if (!(await meansAbsent(lane, `${root}/${key}`, error))) throw error;
      }
    });
  }

  async function close(): Promise<void> {
    await settledSoon(inFlight);
    lanes.close();
  }

  return {
    properties: {
      url,
      conditionalCreate: abilities.publishing !== 'look',
      canDelete: !appendOnly,
      maxParallel,
      remote: true,
    },
    put,
    get,
    stat: statObject,
    list,
    delete: remove,
    ...(appendOnly
      ? {}
      : {
          removeLeftovers: async (signal) =>
            await removeOldLeftovers(
              async (work) => await run('clean', undefined, signal, work),
              root,
              signal,
            ),
        }),
    close,
  };
}
