/**
 * Stores a new object on a WebDAV server: it is stored under a temporary name, its length is compared, and then it is
 * moved to its own name under a claim, a folder that only one of several writers can make. Servers differ in how they
 * treat `If-None-Match` and `Overwrite: F` in a race, but making a folder is a single file system call nearly
 * everywhere.
 */
import { DestinationError } from '../../base/errors.ts';
import { ListBound } from '../bounds.ts';
import type { ObjectStat } from '../destination.ts';
import { CLAIM_TRIES, claimPauseMs, isTimeToList, leastAgeMs } from '../claim.ts';
import type { FileBeside } from '../claim.ts';
import { claimName, temporaryName } from '../new-file.ts';
import { sleepFor } from '../retry.ts';
import { untold } from './dav-failure.ts';
import type { Folder, PutPace } from './folder.ts';
import type { DavEntry } from './multistatus.ts';

export interface Abilities {
  /** Exactly one of several concurrent requests to make the same folder succeeds. */
  readonly claims: boolean;
  /** A move does not replace an existing object. */
  readonly keeps: boolean;
}

const rivals = 6;

/** Tries out what the server does, with a few temporary names that are removed again. */
export async function findAbilities(folder: Folder, signal: AbortSignal): Promise<Abilities> {
  const [first, second] = [temporaryName(), temporaryName()];
  try {
    const [claims, ...stored] = await Promise.all([
      findClaims(folder, signal),
      folder.put(first, Buffer.from('1'), undefined, signal),
      folder.put(second, Buffer.from('22'), undefined, signal),
    ]);
    if (stored.includes('no-folder')) return { claims: false, keeps: false };
    const moved = await folder.move(first, second, signal);
    const kept = moved === 'exists' && (await folder.look(second, signal))?.size === 2;
    return { claims, keeps: kept };
  } catch (error) {
    // Where nothing may be written the way of writing does not matter, and reading works.
    const isRefused =
      error instanceof DestinationError && (error.kind === 'denied' || error.kind === 'unsupported');
    if (isRefused) return { claims: false, keeps: false };
    throw error;
  } finally {
    await Promise.allSettled([first, second].map(async (name) => await folder.remove(name, signal)));
  }
}

/**
 * If no request seems to have made the folder, the answer to the successful one may have been lost, so the race is
 * repeated.
 */
async function findClaims(folder: Folder, signal: AbortSignal): Promise<boolean> {
  const first = await race(folder, signal);
  const outcomes = first.every((outcome) => outcome === 'exists') ? await race(folder, signal) : first;
  return outcomes.filter((outcome) => outcome === 'made').length === 1 && !outcomes.includes('no-folder');
}

/** The results of several concurrent requests to make the same folder. */
async function race(
  folder: Folder,
  signal: AbortSignal,
): Promise<readonly ('made' | 'exists' | 'no-folder')[]> {
  const claim = temporaryName();
  try {
    return await Promise.all(
      Array.from({ length: rivals }, async () => await folder.makeFolder(claim, signal)),
    );
  } finally {
    await folder.remove(`${claim}/`, signal).catch(() => undefined);
  }
}

export interface Storing {
  readonly folder: Folder;
  readonly abilities: Abilities;
  readonly key: string;
  readonly paced: PutPace | undefined;
  /** Folders known to exist; each name ends in a slash. */
  readonly known: Set<string>;
  /** Called with a name that could not be removed. */
  readonly left: (name: string) => void;
}

/** Stores `body` under the key. Rejects with kind `exists` when there is such an object. */
export async function storeObject(
  storing: Storing,
  body: Uint8Array,
  signal: AbortSignal,
): Promise<ObjectStat> {
  const { folder, abilities, key } = storing;
  const parent = key.slice(0, key.lastIndexOf('/') + 1);
  const temporary = `${parent}${temporaryName()}`;
  const claim = `${parent}${claimName(key.slice(parent.length))}`;
  let claimed = false;
  try {
    await upload(storing, temporary, parent, body, signal);
    // Both are awaited, as a claim that succeeds after the look has failed must be removed as well.
    const [stored, claiming] = await Promise.allSettled([
      folder.look(temporary, signal),
      abilities.claims ? takeClaim(storing, claim, temporary, signal) : undefined,
    ]);
    claimed = abilities.claims && claiming.status === 'fulfilled';
    if (claiming.status === 'rejected') throw claiming.reason;
    if (stored.status === 'rejected') throw stored.reason;
    expectLength(folder, key, stored.value, body.byteLength);
    if (!abilities.keeps && (await folder.look(key, signal)) !== undefined)
      throw await taken(folder, key, signal);
    await giveName(storing, temporary, body.byteLength, signal);
  } catch (error) {
    // Not with the caller's signal: leftovers are removed after an abort as well. The claim goes before the temporary
    // object, by which other writers see that the claim is in use.
    if (claimed) await letGo(folder, claim);
    await discard(storing, temporary);
    throw error;
  }
  const [seen] = await Promise.all([folder.look(key, signal), claimed ? letGo(folder, claim) : undefined]);
  try {
    return expectLength(folder, key, seen, body.byteLength);
  } catch (error) {
    // If removing fails it is not tried again later, when the name may belong to an intact object. Without a claim it
    // may already.
    if (claimed) await folder.remove(key, AbortSignal.timeout(60_000)).catch(() => undefined);
    throw error;
  }
}

/**
 * Moves the object to its name. The answer may be lost, or refer to a repeated request, so in doubt the place of the
 * object decides.
 */
async function giveName(
  { folder, key }: Storing,
  temporary: string,
  length: number,
  signal: AbortSignal,
): Promise<void> {
  let failed: unknown;
  try {
    if ((await folder.move(temporary, key, signal)) === 'moved') return;
  } catch (error) {
    failed = error;
  }
  const [own, object] = await Promise.allSettled([folder.look(temporary, signal), folder.look(key, signal)]);
  const isGone = own.status === 'fulfilled' && own.value === undefined;
  if (isGone && object.status === 'fulfilled' && object.value?.size === length) return;
  throw failed ?? (await taken(folder, key, signal));
}

/**
 * Uploads to the temporary name. Missing folders are made beforehand, as some servers report a problem only after
 * everything was sent.
 */
async function upload(
  { folder, paced, known }: Storing,
  temporary: string,
  parent: string,
  body: Uint8Array,
  signal: AbortSignal,
): Promise<void> {
  if (!known.has(parent)) await ensureFolder(folder, parent, signal);
  try {
    if ((await folder.put(temporary, body, paced, signal)) === 'stored') {
      known.add(parent);
      return;
    }
  } catch (error) {
    // nginx answers 500 for a missing folder.
    const isUnclear = error instanceof DestinationError && error.details['status'] === 500;
    if (!isUnclear || !known.has(parent)) throw error;
  }
  // The folder was known and has been removed by somebody else.
  known.delete(parent);
  await ensureFolder(folder, parent, signal);
  if ((await folder.put(temporary, body, paced, signal)) === 'stored') return;
  throw new DestinationError('unsupported', `${folder.url}: nothing can be stored in the folder ${parent}`, {
    op: 'store',
    hint: 'Check that the folder of the destination exists, and that no file is where a folder should be.',
  });
}

async function ensureFolder(folder: Folder, name: string, signal: AbortSignal): Promise<void> {
  // The destination's own folder is never made here: when it is missing, the destination is away.
  if (name === '' || (await folder.look(name, signal))?.isFolder === true) return;
  const parts = name.split('/').slice(0, -1);
  for (const depth of parts.keys()) await folder.makeFolder(parts.slice(0, depth + 1).join('/'), signal);
}

/**
 * Takes the claim on a name. Another writer of the same name needs only a moment, so it is waited for. Rejects with
 * `exists` when that writer succeeds.
 */
async function takeClaim(
  storing: Storing,
  claim: string,
  temporary: string,
  signal: AbortSignal,
): Promise<void> {
  const { folder, key } = storing;
  for (let tries = 0; tries < CLAIM_TRIES; tries += 1) {
    if ((await folder.makeFolder(claim, signal)) === 'made') return;
    const leastMs = isTimeToList(tries)
      ? leastAgeMs(await filesBeside(folder, claim, signal), { own: nameOf(temporary), claim: nameOf(claim) })
      : Number.POSITIVE_INFINITY;
    const [object, own, other] = await Promise.all([
      folder.look(key, signal),
      folder.look(temporary, signal),
      folder.look(`${claim}/`, signal),
    ]);
    if (object !== undefined) throw await taken(folder, key, signal);
    // The temporary object was stored just now, so its time is the server's current time.
    const ageMs = (own?.modifiedMs ?? 0) - (other?.modifiedMs ?? Number.POSITIVE_INFINITY);
    if (ageMs >= leastMs) await letGo(folder, claim);
    else await sleepFor(claimPauseMs(tries), signal);
  }
  throw new DestinationError('unreachable', `Another writer is storing the same object: ${claim} exists`, {
    op: 'store',
    hint: 'Try again. A leftover claim is ignored after ten minutes at the latest.',
    retry: 'now',
  });
}

async function filesBeside(folder: Folder, name: string, signal: AbortSignal): Promise<FileBeside[]> {
  const parent = name.slice(0, Math.max(0, name.lastIndexOf('/')));
  const children = await folder.children(parent, new ListBound(folder.url).folder(parent), signal);
  return [...(children ?? [])]
    .filter(([, { isFolder }]) => !isFolder)
    .map(([child, { modifiedMs }]) => ({ name: child, modifiedMs }));
}

function nameOf(path: string): string {
  return path.slice(path.lastIndexOf('/') + 1);
}

function expectLength(
  folder: Folder,
  key: string,
  entry: DavEntry | undefined,
  expected: number,
): ObjectStat {
  const stat = entry === undefined ? undefined : statOf(entry);
  if (stat?.size === expected) return stat;
  if (entry?.isFolder === false && stat === undefined) throw untold(folder.url, key, entry);
  const actual = stat?.size ?? 0;
  throw new DestinationError(
    'corrupt-reply',
    `${folder.url}: ${key} has ${actual} bytes after storing ${expected}`,
    {
      op: 'store',
      hint: 'The server, or a proxy in front of it, truncates files. Check its limits before relying on it.',
      details: { key, actual, expected, ...(stat === undefined ? {} : { whole: true }) },
      retry: 'now',
    },
  );
}

/** Undefined for a folder, and for an object whose size or time the server does not tell. */
export function statOf({ isFolder, size, modifiedMs }: DavEntry): ObjectStat | undefined {
  return isFolder || size === undefined || modifiedMs === undefined ? undefined : { size, modifiedMs };
}

async function taken(folder: Folder, key: string, signal: AbortSignal): Promise<DestinationError> {
  const entry = await folder.look(key, signal);
  const where = `${key} in ${folder.url}`;
  if (entry === undefined) {
    const hint = 'Try again, and check that nothing else changes the destination.';
    return new DestinationError('unreachable', `${where} appeared and disappeared again`, {
      op: 'store',
      hint,
      retry: 'now',
    });
  }
  if (entry.isFolder) {
    const hint = 'Move it out of the destination.';
    return new DestinationError('unsupported', `${where} exists but is a folder`, { op: 'store', hint });
  }
  const hint = 'Objects are never replaced. Delete the object first if it has to change.';
  return new DestinationError('exists', `${where} already exists`, { op: 'store', hint, details: { key } });
}

/** Removes an object if possible. The caller has a more telling error, or has already stored its object. */
async function discard({ folder, left }: Storing, name: string): Promise<void> {
  try {
    await folder.remove(name, AbortSignal.timeout(60_000));
  } catch {
    left(name);
  }
}

/**
 * Removes a claim. One that cannot be removed is not remembered for later, when it may belong to another writer. The
 * next writer of the name finds it abandoned.
 */
async function letGo(folder: Folder, claim: string): Promise<void> {
  await folder.remove(`${claim}/`, AbortSignal.timeout(60_000)).catch(() => undefined);
}
