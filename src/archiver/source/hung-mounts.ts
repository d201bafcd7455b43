/**
 * Mounted file systems that do not answer: of a server that is gone, or of a program that hangs. Whoever touches one waits
 * for ever, in a call that nothing can break off. So a process of its own touches each first, and what has not answered in
 * time is left alone and listed.
 */
import type { ByteString } from '../../base/byte-path.ts';
import { touchFar } from '../../system/far-answer.ts';
import { isElsewhere, mountTable, parseMounts, type Mount } from '../../system/mount-table.ts';

/** What was found last: what of this machine does not answer is the same for whoever asks in this process. */
let hung: readonly ByteString[] = [];

/** Resolves with false when there was no answer in time. */
export type Touch = (path: ByteString, signal: AbortSignal) => Promise<boolean>;

/**
 * Finds the roots that do not answer, and the mounts below them, and keeps `isHung` informed. To be called before anything
 * of the roots is looked at; takes no time where nothing is mounted from elsewhere, and 20 s when something hangs.
 */
export async function findHungMounts(
  roots: readonly ByteString[],
  signal: AbortSignal,
  { table = mountTable(), touch = doesAnswer }: { readonly table?: string; readonly touch?: Touch } = {},
): Promise<readonly ByteString[]> {
  const suspects = parseMounts(table).filter(({ type }) => canHang(type));
  const below = suspects.filter(({ path }) => roots.some((root) => isWithin(path, root)));
  // A link may lead a root onto any of them.
  const paths = [...new Set([...below.map(({ path }) => path), ...(suspects.length > 0 ? roots : [])])];
  const answers = await Promise.all(paths.map(async (path) => await touch(path, signal)));
  signal.throwIfAborted();
  hung = paths.filter((_, at) => answers[at] === false);
  return hung;
}

/** As another thread of this process has found them. */
export function takeHungMounts(found: readonly ByteString[]): void {
  hung = found;
}

export function hungMounts(): readonly ByteString[] {
  return hung;
}

/** It lies on a file system that did not answer, or is where that is mounted. */
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

function isWithin(path: ByteString, above: ByteString): boolean {
  return path === above || above === '/' || path.startsWith(`${above}/`);
}

async function doesAnswer(path: ByteString, signal: AbortSignal): Promise<boolean> {
  return (await touchFar(path, signal)) !== 'unanswered';
}
