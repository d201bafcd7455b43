/** Checks of the machine: the runtime, disk space, the clock, and that the recovery kit is stored elsewhere. */
import { mkdtemp, rm, stat, statfs } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { errnoOf } from '../../base/errors.ts';
import { holdfast } from '../../base/holdfast-command.ts';
import { systemZone } from '../../base/time-zone.ts';
import { formatBytes } from '../../base/units.ts';
import { answersFrom } from '../../system/far-answer.ts';
import { isThere } from '../../system/where-it-lies.ts';
import { otherKeysText } from '../places/other-keys.ts';
import { type Finding, ok, problem, warning } from './finding.ts';

/** The first Node.js version whose node:crypto has Argon2. */
const NEEDED = [24, 7] as const;

export function checkRuntime(version: string): Finding {
  const [major = 0, minor = 0] = version.split('.').map(Number);
  const isEnough = major > NEEDED[0] || (major === NEEDED[0] && minor >= NEEDED[1]);
  return isEnough
    ? ok('runtime', `Node.js ${version}, ${process.platform}-${process.arch}`)
    : problem('runtime', `Node.js ${version} is too old`, `Install Node.js ${NEEDED.join('.')} or newer.`);
}

const LEAST_BYTES = 200 * 1024 ** 2;
const FEW_BYTES = 2 * 1024 ** 3;

/**
 * Checks the free space at `path`, or at its nearest existing parent.
 * @param destination whose older backups could be forgotten to make space; undefined when there is none
 */
export async function checkSpace(check: string, path: string, destination?: string): Promise<Finding> {
  if (!(await answersFrom(path, new AbortController().signal)))
    return problem(
      check,
      `The file system of ${path} does not answer`,
      'Check that its server or program is running.',
    );
  const { bavail, blocks, bsize } = await spaceAt(path);
  const free = Number(bavail) * Number(bsize);
  const total = Number(blocks) * Number(bsize);
  const text = `${formatBytes(free)} free of ${formatBytes(total)} at ${path}`;
  const least = formatBytes(LEAST_BYTES);
  if (total < LEAST_BYTES)
    return problem(
      check,
      `The disk is too small: ${text}, and a backup needs at least ${least}`,
      'Use a larger disk.',
    );
  const hint =
    destination === undefined
      ? 'Free up space there, or use a larger disk.'
      : `Free up space there, or remove older backups: ${holdfast`forget -r ${destination} --keep-within 1y --prune`}`;
  if (free < LEAST_BYTES)
    return problem(check, `Not enough space: ${text}, and a backup needs at least ${least}`, hint);
  return free < FEW_BYTES || free < total / 50 ? warning(check, text, hint) : ok(check, text);
}

async function spaceAt(path: string): Promise<Awaited<ReturnType<typeof statfs>>> {
  try {
    return await statfs(path);
  } catch (error) {
    const parent = dirname(path);
    if (errnoOf(error) !== 'ENOENT' || parent === path) throw error;
    return await spaceAt(parent);
  }
}

/** Earliest plausible time, in milliseconds since 1970: this program did not exist before. */
const EARLIEST = Date.UTC(2025, 0);
const LATEST = Date.UTC(2100, 0);
/** Milliseconds by which a witness may be in the future, as the clock may have been set back a little. */
const TOLERANCE = 10 * 60_000;

/** Checks the clock against `witnesses`: files that this machine wrote, so none of them can be from the future. */
export async function checkClock(nowMs: number, witnesses: readonly string[]): Promise<Finding> {
  const hint = 'Set the clock, and let the system keep it right: timedatectl set-ntp true';
  const shown = new Date(nowMs).toISOString();
  if (nowMs < EARLIEST || nowMs > LATEST) return problem('clock', `The clock says ${shown}`, hint);
  for (const path of witnesses) {
    const written = await modified(path);
    if (written !== undefined && written > nowMs + TOLERANCE)
      return problem('clock', `The clock says ${shown}, but ${path} was written later`, hint);
  }
  return ok('clock', `${shown}, ${systemZone()}`);
}

async function modified(path: string): Promise<number | undefined> {
  try {
    return (await stat(path)).mtimeMs;
  } catch (error) {
    if (errnoOf(error) === 'ENOENT' || errnoOf(error) === 'EACCES') return undefined;
    throw error;
  }
}

/**
 * The kit is useless if it is lost together with the machine.
 * @param others destinations that it does not open
 */
export async function checkRecoveryKit(path: string, others: readonly string[]): Promise<Finding> {
  const also = others.length === 0 ? '' : `. ${otherKeysText(others)}`;
  return (await isThere(path))
    ? warning(
        'recovery kit',
        `Still on this machine: ${path}${also}`,
        'Keep it somewhere else, then delete this file.',
      )
    : ok('recovery kit', `Not on this machine${also}`);
}

/** Opens and closes a database in a temporary directory. */
export async function tryDatabase(): Promise<void> {
  const { openDatabase } = await import('../../db/database.ts');
  const directory = await mkdtemp(join(tmpdir(), 'holdfast-try-'));
  try {
    openDatabase(join(directory, 'try.db')).close();
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}

export async function tryWatching(): Promise<void> {
  await import('../../watch/native-watcher.ts');
}
