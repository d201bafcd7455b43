/** Stores a new file on the server: it is written under a temporary name, synced, and only then given its own name. */
import { setTimeout as delay } from 'node:timers/promises';
import { DestinationError } from '../../base/errors.ts';
import { ListBound } from '../bounds.ts';
import type { ObjectStat } from '../destination.ts';
import type { UploadPace } from '../limited.ts';
import { CLAIM_TRIES, claimPauseMs, isTimeToList, leastAgeMs } from '../claim.ts';
import { isNamedByBytes } from '../key.ts';
import { claimName, temporaryName } from '../new-file.ts';
import type { Abilities } from './abilities.ts';
import { sleepFor } from '../retry.ts';
import { full, incomplete, isStatus, STATUS, takesNoMore } from './answers.ts';
import type { FileFacts, Lane } from './lane.ts';
import { namesIn } from './walk.ts';

export interface Storing {
  readonly lane: Lane;
  readonly abilities: Abilities;
  /** Absolute path on the server. */
  readonly root: string;
  readonly key: string;
  readonly url: string;
  readonly pace: UploadPace | undefined;
  /** Files are made read-only, and nothing is removed. */
  readonly appendOnly: boolean;
  /**
   * Whether each write waits for the previous one: some servers can only append, and mix up writes that are sent at
   * once.
   */
  readonly writing: { oneByOne: boolean };
  /** Called with a temporary file that could not be removed. */
  readonly left: (path: string) => void;
}

/**
 * Stores `body`. Rejects with kind `exists` when there is such a file, `full` when the server has no space left, and
 * otherwise with the server's answer. An abort is noticed between two pieces.
 */
export async function storeFile(
  storing: Storing,
  body: Uint8Array,
  signal: AbortSignal,
): Promise<ObjectStat> {
  const { abilities, writing, lane, url, key } = storing;
  const stage = { isWriting: false };
  try {
    return await storeOnce(storing, body, stage, signal);
  } catch (error) {
    if (!stage.isWriting || !isStatus(error, STATUS.failure)) throw error;
    const mayBeMixedUp = !abilities.inOrder && !writing.oneByOne && body.byteLength > lane.pieceBytes;
    if (mayBeMixedUp) writing.oneByOne = true;
    else await sleepFor(REFUSED_PAUSE_MS, signal);
  }
  try {
    return await storeOnce(storing, body, stage, signal);
  } catch (error) {
    if (!stage.isWriting || !isStatus(error, STATUS.failure)) throw error;
    throw takesNoMore({ op: 'store', url, key }, error);
  }
}

/**
 * The pause before a refused write is tried again: servers answer "failure" both for a used-up quota and for a disk
 * that was busy for a moment.
 */
const REFUSED_PAUSE_MS = 1_000;

async function storeOnce(
  storing: Storing,
  body: Uint8Array,
  stage: { isWriting: boolean },
  signal: AbortSignal,
): Promise<ObjectStat> {
  const { lane, root, key, url, appendOnly } = storing;
  const path = `${root}/${key}`;
  const temporary = `${path.slice(0, path.lastIndexOf('/'))}/${temporaryName()}`;
  const mode = appendOnly ? 0o400 : 0o600;
  const handle = await create(lane, root, temporary, mode);
  const bytes = Buffer.from(body.buffer, body.byteOffset, body.byteLength);
  let open = true;
  try {
    stage.isWriting = true;
    await write(storing, handle, bytes, signal);
    stage.isWriting = false;
    signal.throwIfAborted();
    open = false;
    const facts = await publish(storing, handle, temporary, path);
    if (facts.size === bytes.byteLength) return { size: facts.size, modifiedMs: facts.modifiedMs };
    // A concurrent writer that renamed its own file to this name was told that it is stored, so its bytes must stay.
    if (storing.abilities.publishing === 'look' && !isNamedByBytes(key, body)) throw taken(path);
    await withdraw(storing, path);
    throw incomplete(url, key, facts.size, bytes.byteLength);
  } catch (error) {
    if (open) await Promise.allSettled([lane.close(handle)]);
    await discard(storing, temporary);
    if (isStatus(error, STATUS.failure) && (await isFull(lane, root, body.byteLength)))
      throw full({ op: 'store', url, key }, error);
    throw error;
  }
}

/** Creates the file. Directories are made only when one is missing, as they nearly always exist. */
async function create(lane: Lane, root: string, path: string, mode: number): Promise<Buffer> {
  try {
    return await lane.open(path, 'create', mode);
  } catch (error) {
    if (!isStatus(error, STATUS.noSuchFile)) throw error;
    // The root itself is never made: when it is missing, the destination is away.
    await lane.stat(root);
    const parts = path
      .slice(root.length + 1)
      .split('/')
      .slice(0, -1);
    const parents = parts.map((_, index) => `${root}/${parts.slice(0, index + 1).join('/')}`);
    for (const parent of parents) await ensureDirectory(lane, parent);
    return await lane.open(path, 'create', mode);
  }
}

async function ensureDirectory(lane: Lane, path: string): Promise<void> {
  try {
    await lane.makeDirectory(path);
  } catch (error) {
    const facts = await lane.stat(path).catch(() => undefined);
    if (facts?.type === 'directory') return;
    if (facts === undefined) throw error;
    throw new DestinationError('unsupported', `${path} exists but is not a directory`, {
      op: 'store',
      hint: 'Move it out of the destination.',
      cause: error,
    });
  }
}

/** Writes and syncs all bytes, and checks the size. */
async function write(storing: Storing, handle: Buffer, body: Buffer, signal: AbortSignal): Promise<void> {
  const { lane, abilities, pace, key, url, writing } = storing;
  const pending: Promise<unknown>[] = [];
  const failure: { error?: unknown } = {};
  const send = (call: Promise<unknown>): void => {
    pending.push(
      call.catch((error: unknown) => {
        failure.error ??= error;
      }),
    );
  };
  for (let offset = 0; offset < body.byteLength && failure.error === undefined;) {
    const wanted = Math.min(lane.pieceBytes, body.byteLength - offset);
    const length = (await pace?.next(key, wanted, signal)) ?? wanted;
    await lane.room(length);
    signal.throwIfAborted();
    const piece = lane.write(handle, body, offset, length);
    send(piece);
    // The next piece waits until this one is acknowledged: pieces in buffers would be sent in one burst.
    if (pace?.limited === true || writing.oneByOne || lane.onlyAppends) await Promise.allSettled([piece]);
    offset += length;
  }
  if (!abilities.inOrder) await Promise.all(pending);
  let size = -1;
  if (failure.error === undefined) {
    if (abilities.syncs) send(lane.sync(handle));
    send(lane.factsOf(handle).then((facts) => (size = facts.size)));
  }
  await Promise.all(pending);
  if (failure.error !== undefined) throw failure.error;
  if (size !== body.byteLength) throw incomplete(url, key, size, body.byteLength);
}

/** Gives the file its name unless that is taken. Resolves with the attributes that later readers see. */
async function publish(
  storing: Storing,
  handle: Buffer,
  temporary: string,
  path: string,
): Promise<FileFacts> {
  const { lane, abilities } = storing;
  if (abilities.publishing === 'link' && abilities.inOrder) {
    // All four requests are sent at once, which takes one round trip instead of four.
    const [closed, linked, seen] = await Promise.allSettled([
      lane.close(handle),
      lane.link(temporary, path),
      lane.stat(path),
      discard(storing, temporary),
    ]);
    if (linked.status === 'rejected') throw takenOr(seen, path, linked.reason);
    if (closed.status === 'rejected' || seen.status === 'rejected') {
      await withdraw(storing, path);
      throw closed.status === 'rejected' ? closed.reason : (seen as PromiseRejectedResult).reason;
    }
    return seen.value;
  }
  await lane.close(handle);
  if (abilities.publishing === 'link') await link(lane, temporary, path);
  else if (abilities.publishing === 'claim') await renameUnderClaim(storing, temporary, path);
  else await renameIfFree(lane, temporary, path);
  if (abilities.publishing === 'link') await discard(storing, temporary);
  return await lane.stat(path);
}

async function link(lane: Lane, temporary: string, path: string): Promise<void> {
  try {
    await lane.link(temporary, path);
  } catch (error) {
    const [seen] = await Promise.allSettled([lane.stat(path)]);
    throw takenOr(seen, path, error);
  }
}

async function renameUnderClaim(storing: Storing, temporary: string, path: string): Promise<void> {
  const { lane } = storing;
  const slash = path.lastIndexOf('/');
  const claim = `${path.slice(0, slash)}/${claimName(path.slice(slash + 1))}`;
  await takeClaim(storing, claim, temporary, path);
  try {
    await renameIfFree(lane, temporary, path);
  } finally {
    // The claim is removed before the temporary file, by which other writers see that the claim is in use.
    await letGo(lane, claim);
  }
}

/**
 * Takes the claim on a name. Another writer of the same name needs only a moment, so it is waited for. Rejects with
 * `exists` when that writer succeeds.
 */
async function takeClaim(storing: Storing, claim: string, temporary: string, path: string): Promise<void> {
  const { lane } = storing;
  for (let tries = 0; tries < CLAIM_TRIES; tries += 1) {
    if (await tryClaim(lane, claim)) return;
    const leastMs = isTimeToList(tries)
      ? await leastAgeThere(storing, claim, temporary)
      : Number.POSITIVE_INFINITY;
    const [object, own, other] = await Promise.allSettled(
      [path, temporary, claim].map(async (name) => await lane.stat(name)),
    );
    if (object?.status === 'fulfilled') throw takenOr(object, path);
    // The temporary file was written just now, so its time is the server's current time.
    const isOld =
      own?.status === 'fulfilled' &&
      other?.status === 'fulfilled' &&
      own.value.modifiedMs - other.value.modifiedMs >= leastMs;
    if (isOld && isStatus(object?.reason, STATUS.noSuchFile)) await letGo(lane, claim);
    else await delay(claimPauseMs(tries));
  }
  throw new DestinationError('unreachable', `Another writer is storing the same object: ${claim} exists`, {
    op: 'store',
    hint: 'Try again. A leftover claim is ignored after ten minutes at the latest.',
    retry: 'now',
  });
}

async function leastAgeThere({ lane, url, key }: Storing, claim: string, temporary: string): Promise<number> {
  const slash = claim.lastIndexOf('/');
  const folder = key.slice(0, Math.max(0, key.lastIndexOf('/')));
  const names = { own: temporary.slice(slash + 1), claim: claim.slice(slash + 1) };
  return leastAgeMs(
    await namesIn(lane, claim.slice(0, slash), false, new ListBound(url).folder(folder).count),
    names,
  );
}

async function tryClaim(lane: Lane, claim: string): Promise<boolean> {
  try {
    const handle = await lane.open(claim, 'create');
    // The claim exists and is this writer's, even if closing the file fails.
    await Promise.allSettled([lane.close(handle)]);
    return true;
  } catch (error) {
    const [seen] = await Promise.allSettled([lane.stat(claim)]);
    if (seen.status === 'fulfilled') return false;
    throw error;
  }
}

async function renameIfFree(lane: Lane, temporary: string, path: string): Promise<void> {
  const [seen] = await Promise.allSettled([lane.stat(path)]);
  if (seen.status === 'fulfilled') throw takenOr(seen, path);
  if (!isStatus(seen.reason, STATUS.noSuchFile)) throw seen.reason;
  await lane.rename(temporary, path);
}

/** The error for a name that could not be given: `exists` for an object, `unsupported` for a directory or device. */
function takenOr(seen: PromiseSettledResult<FileFacts>, path: string, cause?: unknown): unknown {
  if (seen.status === 'rejected') return cause;
  if (seen.value.type !== 'file') {
    const hint = 'Move it out of the destination.';
    return new DestinationError('unsupported', `${path} exists but is not a file`, {
      op: 'store',
      hint,
      cause,
    });
  }
  return taken(path, cause);
}

function taken(path: string, cause?: unknown): DestinationError {
  const hint = 'Objects are never replaced. Delete the object first if it has to change.';
  return new DestinationError('exists', `${path} already exists`, { op: 'store', hint, cause });
}

/** Removes a file if possible. The caller has a more telling error, or has already stored its object. */
async function discard({ lane, appendOnly, left }: Storing, path: string): Promise<void> {
  if (appendOnly) return;
  try {
    await lane.remove(path);
  } catch (error) {
    if (!isStatus(error, STATUS.noSuchFile)) left(path);
  }
}

/**
 * Removes a claim. One that cannot be removed is not remembered for later, when it may belong to another writer. The
 * next writer of the name finds it abandoned.
 */
async function letGo(lane: Lane, claim: string): Promise<void> {
  await Promise.allSettled([lane.remove(claim)]);
}

/**
 * Removes a damaged object. If that fails it is not tried again later, when the name may belong to an intact object.
 */
async function withdraw({ lane, appendOnly }: Storing, path: string): Promise<void> {
  if (!appendOnly) await Promise.allSettled([lane.remove(path)]);
}

/** Whether the disk is full, which servers report as "failure" like many other problems. */
async function isFull(lane: Lane, root: string, wanted: number): Promise<boolean> {
  try {
    const free = await lane.freeBytes(root);
    return free !== undefined && free < wanted + 64 * 1024;
  } catch {
    return false;
  }
}
