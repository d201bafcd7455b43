/**
 * Mounted file systems that do not answer: of a server that is gone, or of a program that hangs. Whoever touches one waits
 * for ever, in a call that nothing can break off. So a process of its own touches each first, and what has not answered in
 * time is left alone and listed.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import type { ByteString } from '../base/byte-path.ts';
import { isElsewhere, mountTable, parseMounts, type Mount } from '../system/mount-table.ts';

/** Milliseconds. Disks that have to be woken and links that are slow answer in less. */
const PATIENCE = 20_000;
/** Only the server of a network file system knows how much room there is: a stat alone may come from memory. */
const TOUCH = `const fs = require('node:fs');
const path = Buffer.from(process.argv[1], 'base64');
fs.lstatSync(path);
fs.statfsSync(path);`;

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
  { table = mountTable(), touch = touchByProcess }: { readonly table?: string; readonly touch?: Touch } = {},
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

async function touchByProcess(path: ByteString, signal: AbortSignal): Promise<boolean> {
  const encoded = Buffer.from(path, 'latin1').toString('base64');
  const child = spawn(process.execPath, ['-e', TOUCH, encoded], { stdio: 'ignore' });
  const timer = new AbortController();
  const limit = setTimeout(() => timer.abort(), PATIENCE);
  try {
    await once(child, 'exit', { signal: AbortSignal.any([timer.signal, signal]) });
    return true;
  } catch {
    // A process that cannot be started says nothing of the file system; one that waits on a dead server may outlive this.
    child.kill('SIGKILL');
    child.unref();
    return !timer.signal.aborted;
  } finally {
    clearTimeout(limit);
  }
}
