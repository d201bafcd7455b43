/** A new file on the server: written under a temporary name, synced, and only then given its own name. */
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
  /** Absolute, on the server. */
  readonly root: string;
  readonly key: string;
  readonly url: string;
  readonly pace: UploadPace | undefined;
  /** Files are made read-only, and nothing is removed. */
  readonly appendOnly: boolean;
  /** Whether writes are sent one after the other: some servers can only append, and mix up what they get at once. */
  readonly writing: { oneByOne: boolean };
  /** Told of a temporary file that could not be removed. */
  readonly left: (path: string) => void;
}

/**
 * Stores `body`. Rejects with kind `exists` when there is such a file, `full` when the server has no space left, and
 * otherwise with what the server answered. An abort is noticed between two pieces.
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

/** Servers say "failure" to a write for a quota that is used up as for a disk that was busy for a moment. */
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
    // Whoever renames a file of the same name meanwhile is told that it is stored.
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

/** Makes directories only when one is missing: they are there nearly always. */
async function create(lane: Lane, root: string, path: string, mode: number): Promise<Buffer> {
  try {
    return await lane.open(path, 'create', mode);
  } catch (error) {
    if (!isStatus(error, STATUS.noSuchFile)) throw error;
    // Not the root: that one missing means that the destination is away.
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
    throw new DestinationError('unsupported', `${path} is there and is no directory`, {
      op: 'store',
      hint: 'Move what is there out of the destination.',
      cause: error,
    });
  }
}

/** All is written, synced and of the right size after it. */
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
    // Held back only once it has left: what waits in buffers would go out in one burst.
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

/** Gives the file its name, unless that is taken, and tells what a later reader sees. */
async function publish(
  storing: Storing,
  handle: Buffer,
  temporary: string,
  path: string,
): Promise<FileFacts> {
  const { lane, abilities } = storing;
  if (abilities.publishing === 'link' && abilities.inOrder) {
    // One round trip instead of four.
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
    // Before the temporary file, by which others see that somebody stands behind it.
    await letGo(lane, claim);
  }
}

/** Waits for another writer of the same name, who needs a moment. Rejects with `exists` when that one succeeds. */
async function takeClaim(storing: Storing, claim: string, temporary: string, path: string): Promise<void> {
  const { lane } = storing;
  for (let tries = 0; tries < CLAIM_TRIES; tries += 1) {
    if (await tryClaim(lane, claim)) return;
    const leastMs = isTimeToList(tries)
      ? await leastAgeThere(lane, claim, temporary)
      : Number.POSITIVE_INFINITY;
    const [object, own, other] = await Promise.allSettled(
      [path, temporary, claim].map(async (name) => await lane.stat(name)),
    );
    if (object?.status === 'fulfilled') throw takenOr(object, path);
    // The temporary file was written just now: its time is the server's clock.
    const isOld =
      own?.status === 'fulfilled' &&
      other?.status === 'fulfilled' &&
      own.value.modifiedMs - other.value.modifiedMs >= leastMs;
    if (isOld && isStatus(object?.reason, STATUS.noSuchFile)) await letGo(lane, claim);
    else await delay(claimPauseMs(tries));
  }
  throw new DestinationError('unreachable', `Another writer is storing the same object: ${claim} is there`, {
    op: 'store',
    hint: 'Try again. A claim that was left behind is set aside after ten minutes at the latest.',
    retry: 'now',
  });
}

async function leastAgeThere(lane: Lane, claim: string, temporary: string): Promise<number> {
  const slash = claim.lastIndexOf('/');
  const names = { own: temporary.slice(slash + 1), claim: claim.slice(slash + 1) };
  return leastAgeMs(
    await namesIn(lane, claim.slice(0, slash), false, new ListBound(claim).folder('packs/').count),
    names,
  );
}

async function tryClaim(lane: Lane, claim: string): Promise<boolean> {
  try {
    const handle = await lane.open(claim, 'create');
    // It is there, and this writer's, whatever becomes of that.
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

/** What it means that a name could not be given: `exists` for an object, `unsupported` for a directory or device. */
function takenOr(seen: PromiseSettledResult<FileFacts>, path: string, cause?: unknown): unknown {
  if (seen.status === 'rejected') return cause;
  if (seen.value.type !== 'file') {
    const hint = 'Move what is there out of the destination.';
    return new DestinationError('unsupported', `${path} is there and is no file`, {
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

/** Removes a file if it can: the caller has a more telling error, or has stored its object already. */
async function discard({ lane, appendOnly, left }: Storing, path: string): Promise<void> {
  if (appendOnly) return;
  try {
    await lane.remove(path);
  } catch (error) {
    if (!isStatus(error, STATUS.noSuchFile)) left(path);
  }
}

/** One that cannot be removed now is not remembered: later it may be that of another. Whoever wants the name next sees. */
async function letGo(lane: Lane, claim: string): Promise<void> {
  await Promise.allSettled([lane.remove(claim)]);
}

/** Removes an object that is not as it should be, at once or never: later the name may be that of a good one. */
async function withdraw({ lane, appendOnly }: Storing, path: string): Promise<void> {
  if (!appendOnly) await Promise.allSettled([lane.remove(path)]);
}

/** Servers say "failure" when the disk is full, as for much else. */
async function isFull(lane: Lane, root: string, wanted: number): Promise<boolean> {
  try {
    const free = await lane.freeBytes(root);
    return free !== undefined && free < wanted + 64 * 1024;
  } catch {
    return false;
  }
}
