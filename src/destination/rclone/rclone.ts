/**
 * An rclone remote as a destination, whatever storage it stands for. Objects are uploaded under a temporary name and
 * then moved to their own. rclone promises for no storage that exactly one of several writers of a name succeeds.
 */
import { DestinationError } from '../../base/errors.ts';
import type { RcloneAccess } from '../access.ts';
import { extentOf } from '../byte-range.ts';
import type { ByteRange, Destination, Leftovers, ListedObject, ObjectStat } from '../destination.ts';
import { checkKey, checkPrefix, isKeyPart } from '../key.ts';
import type { UploadPace } from '../limited.ts';
import { plainUrl, type RclonePlace } from '../location.ts';
import { removeStale } from '../leftovers.ts';
import { isTemporaryName, temporaryName } from '../new-file.ts';
import { sleepFor } from '../retry.ts';
import { settledSoon, untilAborted } from '../stall.ts';
import { type Commands, commandsOf, type RcloneItem, statOf } from './commands.ts';
import { RcloneProgram } from './program.ts';

export interface RcloneOptions {
  /** Creates the folder when it is absent. */
  readonly create?: boolean | undefined;
  readonly pace?: UploadPace | undefined;
  /** The user's environment: `PATH`, rclone's variables, and others that rclone reads. */
  readonly environment?: Readonly<Record<string, string | undefined>> | undefined;
  /** The user's home directory, where rclone keeps its configuration. */
  readonly home?: string | undefined;
}

const pageLength = 1000;
const maxParallel = 8;
/** With the pauses below, two seconds in all. */
const settleTries = 6;
const settlePauseMs = 150;

/**
 * Starts rclone and opens the folder. Rejects with `unsupported` when rclone is not installed, `not-found` when it
 * knows no such remote or the folder is absent (unless `create`), `denied` when its configuration is locked, and
 * `unreachable`.
 */
export async function openRcloneDestination(
  place: RclonePlace,
  access: RcloneAccess,
  options: RcloneOptions = {},
  signal: AbortSignal = new AbortController().signal,
): Promise<Destination> {
  const { environment = {}, home } = options;
  const url = plainUrl(place);
  const known = home === undefined ? environment : { HOME: home, ...environment };
  const program = new RcloneProgram(place, url, access, known, maxParallel * 2);
  try {
    const commands = commandsOf(async () => await program.site(), url, { grown: program.grown });
    await untilAborted(openFolder(commands, options.create === true, signal), signal);
    return rcloneDestination(commands, program, options.pace);
  } catch (error) {
    // Only after a broken connection is rclone asked for the reason; any other failure is rclone's own answer.
    const ended = isLineBroken(error) ? await program.lastWords() : undefined;
    await program.close();
    signal.throwIfAborted();
    throw ended ?? error;
  }
}

function isLineBroken(error: unknown): boolean {
  if (!(error instanceof DestinationError) || error.details['status'] !== undefined) return false;
  return error.details['code'] !== undefined || error.kind === 'corrupt-reply';
}

/**
 * Opens the folder. On storages whose folders are mere prefixes of names an empty one may or may not be reported as
 * existing; both work.
 */
async function openFolder(commands: Commands, create: boolean, signal: AbortSignal): Promise<void> {
  const found = await commands.stat('', signal);
  if (found?.isFolder === true) return;
  if (found !== undefined) throw cannotOpen(commands.url, 'unsupported', 'it is not a folder');
  if (!create) throw cannotOpen(commands.url, 'not-found', 'it does not exist');
  await commands.makeFolder('', signal);
}

function cannotOpen(url: string, kind: 'unsupported' | 'not-found', what: string): DestinationError {
  const hint = 'Compare it with the output of "rclone lsd".';
  return new DestinationError(kind, `Cannot open ${url}: ${what}`, { op: 'open', hint });
}

function rcloneDestination(
  commands: Commands,
  program: RcloneProgram,
  pace: UploadPace | undefined,
): Destination {
  const { url } = commands;
  const inFlight = new Set<Promise<unknown>>();

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

  /** Called before an object is reported as absent: the destination itself may be gone. */
  async function expectFolder(op: string, signal: AbortSignal): Promise<void> {
    if ((await commands.stat('', signal))?.isFolder === true) return;
    throw new DestinationError('unreachable', `${url} is no longer there`, {
      op,
      hint: 'Check that nobody moved or removed it, and that its disk or share is mounted.',
      retry: 'later',
    });
  }

  /** All items below a folder; none when the folder does not exist. */
  async function itemsBelow(start: string, signal: AbortSignal): Promise<readonly RcloneItem[]> {
    const items = await commands.list(start, signal);
    if (items !== undefined) return items;
    const isThere = start === '' || (await commands.stat(start, signal))?.isFolder === true;
    await expectFolder('list', signal);
    // rclone uses the same message for the folder itself and for a subfolder that vanished during the list, in which
    // case the list is incomplete.
    if (isThere) throw incomplete(url);
    return [];
  }

  async function present(op: string, key: string, signal: AbortSignal): Promise<ObjectStat> {
    const item = await commands.stat(key, signal);
    if (item === undefined) await expectFolder(op, signal);
    if (item === undefined || item.isFolder) throw absent(op, key, url);
    return statOf(item, url);
  }

  /**
   * What has the name after a move. It may be missing for a moment, while another writer of the same name replaces the
   * object by its own.
   */
  async function settled(key: string, signal: AbortSignal): Promise<ObjectStat | undefined> {
    for (let tries = 1; ; tries += 1) {
      const item = await commands.stat(key, signal);
      if (item !== undefined || tries >= settleTries) return item;
      await sleepFor(settlePauseMs * tries, signal);
    }
  }

  async function put(key: string, body: Uint8Array, signal: AbortSignal): Promise<ObjectStat> {
    checkKey(key);
    return await run(signal, async () => {
      const temporary = `${key.slice(0, key.lastIndexOf('/') + 1)}${temporaryName()}`;
      try {
        await commands.upload(temporary, body, pace, key, signal);
        const [stored, other] = await Promise.all([
          commands.stat(temporary, signal),
          commands.stat(key, signal),
        ]);
        expectSize(stored, key, body.byteLength, url);
        if (other !== undefined) throw taken(key, other.isFolder, url);
        await commands.move(temporary, key, signal);
      } catch (error) {
        // Not with the caller's signal: leftovers are removed after an abort as well.
        await commands.remove(temporary, AbortSignal.timeout(60_000)).catch(() => undefined);
        throw error;
      }
      // A wrong object stays there: of two writers that create one name the later one prevails, so it may belong to the
      // other.
      return expectSize(await settled(key, signal), key, body.byteLength, url);
    });
  }

  async function get(key: string, range: ByteRange | undefined, signal: AbortSignal): Promise<Buffer> {
    checkKey(key);
    return await run(signal, async () => {
      const { size } = await present('read', key, signal);
      const extent = extentOf(range, size, key);
      if (extent.length === 0) return Buffer.allocUnsafeSlow(0);
      const bytes = await commands.read(key, extent, signal);
      if (bytes !== undefined) return bytes;
      await expectFolder('read', signal);
      throw absent('read', key, url);
    });
  }

  async function* list(prefix: string, signal: AbortSignal): AsyncGenerator<readonly ListedObject[]> {
    checkPrefix(prefix);
    const start = prefix.slice(0, Math.max(0, prefix.lastIndexOf('/')));
    const isPossible = start.split('/').every((part) => part.length <= 255);
    const items = await run(signal, async () => {
      if (isPossible) return await itemsBelow(start, signal);
      await expectFolder('list', signal);
      return [];
    });
    const objects = items
      .filter(
        ({ path, isFolder }) => !isFolder && path.startsWith(prefix) && path.split('/').every(isKeyPart),
      )
      .map((item) => ({ key: item.path, ...statOf(item, url) }));
    for (let from = 0; from < objects.length; from += pageLength) {
      signal.throwIfAborted();
      yield objects.slice(from, from + pageLength);
    }
  }

  async function removeLeftovers(signal: AbortSignal): Promise<Leftovers> {
    const nowMs = await timeNow(signal);
    const items = await itemsBelow('', signal);
    const found = items
      .filter(({ path, isFolder }) => !isFolder && isTemporaryName(path.slice(path.lastIndexOf('/') + 1)))
      .map(({ path: name, size, modifiedMs }) => ({ name, size, modifiedMs }));
    const remove = async (name: string): Promise<boolean> =>
      (await commands.remove(name, signal)) === 'removed';
    return await removeStale(found, nowMs, remove, signal);
  }

  /** The current time by the storage's clock, where it keeps times of its own; 0 when it is unknown. */
  async function timeNow(signal: AbortSignal): Promise<number> {
    const probe = temporaryName();
    await commands.upload(probe, Buffer.from('1'), undefined, probe, signal);
    try {
      return (await settled(probe, signal))?.modifiedMs ?? 0;
    } finally {
      await commands.remove(probe, signal);
    }
  }

  return {
    properties: { url, conditionalCreate: false, canDelete: true, maxParallel, remote: true },
    put,
    get,
    stat: async (key, signal) => {
      checkKey(key);
      return await run(signal, async () => await present('inspect', key, signal));
    },
    list,
    delete: async (key, signal) => {
      checkKey(key);
      await run(signal, async () => {
        if ((await commands.remove(key, signal)) === 'absent') await expectFolder('delete', signal);
      });
    },
    removeLeftovers: async (signal) => await run(signal, async () => await removeLeftovers(signal)),
    close: async () => {
      await settledSoon(inFlight);
      await program.close();
    },
  };
}

function absent(op: string, key: string, url: string): DestinationError {
  return new DestinationError('not-found', `Cannot ${op} ${key} in ${url}: there is no such object`, {
    op,
    hint: 'Check that this is the right destination, and that nothing was removed from it.',
    details: { key },
  });
}

function incomplete(url: string): DestinationError {
  return new DestinationError('corrupt-reply', `Cannot list ${url}: rclone did not find one of its folders`, {
    op: 'list',
    hint: 'Check whether "rclone lsf -R" lists everything, and what it says about the folder.',
    retry: 'now',
  });
}

function taken(key: string, isFolder: boolean, url: string): DestinationError {
  if (isFolder) {
    const hint = 'Move it out of the destination.';
    return new DestinationError('unsupported', `${key} in ${url} exists but is a folder`, {
      op: 'store',
      hint,
    });
  }
  const hint = 'Objects are never replaced. Delete the object first if it has to change.';
  return new DestinationError('exists', `${key} in ${url} already exists`, {
    op: 'store',
    hint,
    details: { key },
  });
}

function expectSize(stat: ObjectStat | undefined, key: string, expected: number, url: string): ObjectStat {
  if (stat?.size === expected) return { size: stat.size, modifiedMs: stat.modifiedMs };
  const actual = stat?.size ?? 0;
  throw new DestinationError(
    'corrupt-reply',
    `${key} in ${url} has ${actual} bytes after storing ${expected}`,
    {
      op: 'store',
      hint: 'The storage loses data. Check it before relying on it.',
      details: { key, actual, expected, ...(stat === undefined ? {} : { whole: true }) },
      retry: 'now',
    },
  );
}
