/**
 * Packs that were stored in one far destination, kept on this machine for the next one to save a download. They are not
 * relied on: a missing or incomplete pack is fetched. Functions only throw the reason of an aborted signal.
 */
import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { mkdir, open, readdir, rm, stat, statfs, writeFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { placedCauseText } from '../base/errno-words.ts';
import type { ByteRange } from '../destination/destination.ts';

/** The most bytes of all spools together, */
const MOST_BYTES = 4 * 1024 * 1024 * 1024;
/** limited to this share of the space that would be free without them. */
const SHARE_OF_FREE = 0.1;

export interface SpoolLimits {
  readonly mostBytes?: number;
  /** Returns the free bytes on the disk of the spool. */
  readonly free?: (directory: string) => Promise<number>;
}

/** Intercepts the packs that a destination stores and reads. */
export interface PackSpool {
  /** Called while a pack is being stored. */
  keep(key: string, body: Uint8Array): Promise<void>;
  /** Called when a pack could not be stored after all. */
  drop(key: string): Promise<void>;
  /** Undefined when the pack has to be fetched. */
  read(key: string, range: ByteRange | undefined, signal: AbortSignal): Promise<Buffer | undefined>;
}

/** Begins a spool that keeps packs. Packs of an earlier reader in the directory are useless, and removed. */
export async function beginSpool(
  directory: string,
  note: (text: string) => void,
  limits: SpoolLimits = {},
): Promise<PackSpool> {
  let isOpen = true;
  const giveUp = (error: unknown): void => {
    if (isOpen) note(`Packs are not kept for other destinations: ${placedCauseText(error)}.`);
    isOpen = false;
  };
  try {
    await rm(directory, { recursive: true, force: true });
    await mkdir(directory, { recursive: true, mode: 0o700 });
  } catch (error) {
    giveUp(error);
  }
  const drop = async (key: string): Promise<void> => {
    await Promise.allSettled([rm(pathOf(directory, key), { force: true })]);
  };
  const keep = async (key: string, body: Uint8Array): Promise<void> => {
    if (!isOpen) return;
    try {
      if (!(await hasRoom(directory, body.length, limits))) return;
      await writeFile(pathOf(directory, key), body, { mode: 0o600 });
    } catch (error) {
      giveUp(error);
      await drop(key);
    }
  };
  // One after the other, as two at a time could both find space that is enough for only one.
  let turn: Promise<void> = Promise.resolve();
  return {
    async keep(key, body) {
      turn = turn.then(async () => await keep(key, body));
      await turn;
    },
    drop,
    read: async () => await Promise.resolve(undefined),
  };
}

/** A spool that returns packs that were kept. */
export function readSpool(directory: string): PackSpool {
  const whole = new Map<string, Promise<boolean>>();
  return {
    async keep() {},
    async drop() {},
    async read(key, range, signal) {
      const path = pathOf(directory, key);
      const known = whole.get(key) ?? isWhole(path, signal);
      whole.set(key, known);
      try {
        return (await known) ? await readPart(path, range) : undefined;
      } catch {
        signal.throwIfAborted();
        return undefined;
      }
    },
  };
}

/** A pack is named by the SHA-256 of its bytes. */
async function isWhole(path: string, signal: AbortSignal): Promise<boolean> {
  const digest = createHash('sha256');
  try {
    await pipeline(createReadStream(path), digest, { signal });
  } catch {
    return false;
  }
  return digest.digest('hex') === basename(path);
}

async function readPart(path: string, range: ByteRange | undefined): Promise<Buffer | undefined> {
  await using file = await open(path, 'r');
  const { size } = await file.stat();
  const { offset, length } = range ?? { offset: 0, length: size };
  const start = offset < 0 ? size + offset : offset;
  if (start < 0 || start + length > size) return undefined;
  const bytes = Buffer.allocUnsafe(length);
  let done = 0;
  while (done < length) {
    const { bytesRead } = await file.read(bytes, done, length - done, start + done);
    if (bytesRead === 0) return undefined;
    done += bytesRead;
  }
  return bytes;
}

async function hasRoom(
  directory: string,
  bytes: number,
  { mostBytes = MOST_BYTES, free = freeBytes }: SpoolLimits,
): Promise<boolean> {
  const used = await bytesBelow(dirname(directory));
  return used + bytes <= Math.min(mostBytes, ((await free(directory)) + used) * SHARE_OF_FREE);
}

async function freeBytes(directory: string): Promise<number> {
  const { bavail, bsize } = await statfs(directory);
  return bavail * bsize;
}

async function bytesBelow(directory: string): Promise<number> {
  const entries = await readdir(directory, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile());
  const sizes = await Promise.all(
    files.map(async ({ parentPath, name }) => await sizeOf(join(parentPath, name))),
  );
  return sizes.reduce((sum, size) => sum + size, 0);
}

/** 0 for a file that has just been removed, such as one in the spool of another pass. */
async function sizeOf(path: string): Promise<number> {
  try {
    return (await stat(path)).size;
  } catch {
    return 0;
  }
}

function pathOf(directory: string, key: string): string {
  return join(directory, basename(key));
}
