/**
 * Finds mounted file systems that do not answer, because their server is gone or their program hangs. Touching one
 * blocks for ever in a call that cannot be interrupted. So a separate process touches each first, and one that does not
 * answer in time is left alone and listed.
 */
import { isWithin, type ByteString } from '../../base/byte-path.ts';
import { touchFar } from '../../system/far-answer.ts';
import { isElsewhere, mountTable, parseMounts, type Mount } from '../../system/mount-table.ts';

/** The result of the last search. It applies to everything in this process, since it is a property of the machine. */
let hung: readonly ByteString[] = [];

/** Resolves with false when there was no answer in time. */
export type Touch = (path: ByteString, signal: AbortSignal) => Promise<boolean>;

/**
 * Finds the roots that do not answer, and the mounts below them, and has `isHung` use the result. To be called before
 * anything in the roots is looked at. Takes no time where nothing is mounted from elsewhere, and 20 s when something hangs.
 */
export async function findHungMounts(
  roots: readonly ByteString[],
  signal: AbortSignal,
  { table = mountTable(), touch = doesAnswer }: { readonly table?: string; readonly touch?: Touch } = {},
): Promise<readonly ByteString[]> {
  const suspects = parseMounts(table).filter(({ type }) => canHang(type));
  const below = suspects.filter(({ path }) => roots.some((root) => isWithin(path, root)));
  // A root may lead by way of a link onto any of the suspects.
  const paths = [...new Set([...below.map(({ path }) => path), ...(suspects.length > 0 ? roots : [])])];
  const answers = await Promise.all(paths.map(async (path) => await touch(path, signal)));
  signal.throwIfAborted();
  hung = paths.filter((_, at) => answers[at] === false);
  return hung;
}

/** Sets the result that another thread of this process has found. */
export function takeHungMounts(found: readonly ByteString[]): void {
  hung = found;
}

export function hungMounts(): readonly ByteString[] {
  return hung;
}

/** The path lies on a file system that did not answer, or is its mount point. */
export function isHung(path: ByteString): boolean {
  return hung.some((mount) => isWithin(path, mount));
}

/** @throws a system error, ETIMEDOUT, when looking at the path would hang */
export function refuseHung(path: ByteString): void {
  if (!isHung(path)) return;
  throw Object.assign(new Error('its file system does not answer'), { code: 'ETIMEDOUT', syscall: 'lstat' });
}

function canHang(type: Mount['type']): boolean {
  return isElsewhere(type) || type === 'fuseblk';
}

async function doesAnswer(path: ByteString, signal: AbortSignal): Promise<boolean> {
  return (await touchFar(path, signal)) !== 'unanswered';
}
