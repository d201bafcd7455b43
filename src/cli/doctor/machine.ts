/** Checks of what the agent stands on: the runtime, its native parts, disks, the clock. */
import { randomBytes } from 'node:crypto';
import { stat, statfs } from 'node:fs/promises';
import { dirname } from 'node:path';
import { errnoOf } from '../../base/errors.ts';
import { formatBytes } from '../../base/units.ts';
import { tryDatabase, tryWatching } from '../../daemon/native-parts.ts';
import { ok, problem, warning, type Finding } from './finding.ts';

/** The first Node.js whose node:crypto has Argon2. */
const NEEDED = [24, 7] as const;

export function checkRuntime(version: string): Finding {
  const [major = 0, minor = 0] = version.split('.').map(Number);
  const isEnough = major > NEEDED[0] || (major === NEEDED[0] && minor >= NEEDED[1]);
  return isEnough
    ? ok('runtime', `Node.js ${version}, ${process.platform}-${process.arch}`)
    : problem('runtime', `Node.js ${version} is too old`, `Install Node.js ${NEEDED.join('.')} or newer.`);
}

/** Each native package does its work once. */
const NATIVE: readonly (readonly [name: string, tryOut: () => Promise<void>])[] = [
  [
    'compression',
    async () => {
      const { SegmentCompressor, DEFAULT_COMPRESSION } = await import('../../codec/compress.ts');
      void new SegmentCompressor(DEFAULT_COMPRESSION, 1);
    },
  ],
  [
    'hashing',
    async () => {
      const { plainChecksum } = await import('../../codec/hash.ts');
      plainChecksum(Buffer.alloc(1), Buffer.alloc(1));
    },
  ],
  [
    'passphrases',
    async () => {
      const { argon2id } = await import('../../codec/kdf.ts');
      await argon2id(randomBytes(8), randomBytes(16), { m: 64, t: 1, p: 1 });
    },
  ],
  ['database', tryDatabase],
  ['watching', tryWatching],
];

export async function checkNative(): Promise<Finding> {
  const broken: string[] = [];
  for (const [name, tryOut] of NATIVE) {
    try {
      await tryOut();
    } catch (error) {
      const said = error instanceof Error ? error.message : String(error);
      broken.push(`${name} (${said.split('\n')[0]})`);
    }
  }
  if (broken.length > 0)
    return problem(
      'native modules',
      `Not usable: ${broken.join('; ')}`,
      'Install Holdfast again for this system: npm ci',
    );
  const { nativeMissing } = await import('../../system/native.ts');
  if (nativeMissing !== '')
    return warning(
      'native modules',
      `Extended attributes and some metadata are not kept: ${nativeMissing}`,
      'Install Holdfast again for this system: npm ci',
    );
  return ok('native modules', `${NATIVE.length + 1} load and work`);
}

const LEAST_BYTES = 200 * 1024 ** 2;
const FEW_BYTES = 2 * 1024 ** 3;

/** `path`, or what there is of it. */
export async function checkSpace(check: string, path: string): Promise<Finding> {
  const { bavail, blocks, bsize } = await spaceAt(path);
  const free = Number(bavail) * Number(bsize);
  const total = Number(blocks) * Number(bsize);
  const text = `${formatBytes(free)} free of ${formatBytes(total)} at ${path}`;
  const hint = 'Make space, or let older backups go: holdfast forget --prune';
  if (free < LEAST_BYTES) return problem(check, text, hint);
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

/** No machine that runs this program is older, in milliseconds since 1970. */
const EARLIEST = Date.UTC(2025, 0);
const LATEST = Date.UTC(2100, 0);
/** Milliseconds by which the clock may have been set back. */
const TOLERANCE = 10 * 60_000;

/** `witnesses` were written by this machine: none can be from the future. */
export async function checkClock(nowMs: number, witnesses: readonly string[]): Promise<Finding> {
  const hint = 'Set the clock, and let the system keep it: timedatectl set-ntp true';
  const shown = new Date(nowMs).toISOString();
  if (nowMs < EARLIEST || nowMs > LATEST) return problem('clock', `The clock says ${shown}`, hint);
  for (const path of witnesses) {
    const written = await modified(path);
    if (written !== undefined && written > nowMs + TOLERANCE)
      return problem('clock', `The clock says ${shown}, but ${path} was written later`, hint);
  }
  return ok('clock', `${shown}, ${new Intl.DateTimeFormat().resolvedOptions().timeZone}`);
}

async function modified(path: string): Promise<number | undefined> {
  try {
    return (await stat(path)).mtimeMs;
  } catch (error) {
    if (errnoOf(error) === 'ENOENT' || errnoOf(error) === 'EACCES') return undefined;
    throw error;
  }
}
