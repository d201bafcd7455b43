/** Keeps copies of a far repository's key files, as stored there, so that it can be opened without reading them again. */
import { createHash, randomBytes } from 'node:crypto';
import { readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { makeDirectoriesSync } from '../base/make-directories.ts';
import type { KeyCopies, KeyCopy } from '../repository/first-look.ts';

/** Room for 64 slots of 8 KiB, a ring and a configuration, in base64. */
const LARGEST_FILE = 2 * 1024 * 1024;
const VERSION = 1;

interface KeptFile {
  readonly size: number;
  readonly modifiedMs: number;
  /** Base64. */
  readonly bytes: string;
  /** SHA-256 of the bytes in hex: a copy that the disk has damaged is not used. */
  readonly sha256: string;
}

interface Kept {
  readonly version: typeof VERSION;
  readonly complete: boolean;
  readonly large: boolean;
  /** By key. */
  readonly files: Readonly<Record<string, KeptFile>>;
}

const NOTHING: Kept = { version: VERSION, complete: false, large: false, files: {} };

/**
 * The copies for one location, identified by the text that was given for it. They do not open anything without the
 * secret, as a slot holds nothing that the destination does not show. Nothing throws: a file that cannot be read or
 * written costs requests.
 */
export function openKeyCopies(stateDirectory: string, location: string): KeyCopies {
  const name = createHash('sha256').update(location).digest('hex').slice(0, 32);
  const path = join(stateDirectory, 'cache', `${name}.keys`);
  const found = readKept(path);
  return {
    read({ key, size, modifiedMs }) {
      const kept = Object.hasOwn(found.files, key) ? found.files[key] : undefined;
      if (kept === undefined || kept.size !== size || kept.modifiedMs !== modifiedMs) return undefined;
      const bytes = Buffer.from(kept.bytes, 'base64');
      return digestOf(bytes) === kept.sha256 ? bytes : undefined;
    },
    known: {
      complete: found.complete,
      large: found.large,
      listed: Object.entries(found.files).map(([key, { size, modifiedMs }]) => ({ key, size, modifiedMs })),
    },
    replace(copies, { complete, large }) {
      const files = Object.fromEntries(copies.map((copy) => [copy.listed.key, keptFile(copy)]));
      const kept: Kept = { version: VERSION, complete, large, files };
      if (!isSame(kept, found)) writeKept(path, kept);
    },
  };
}

function keptFile({ listed: { size, modifiedMs }, bytes }: KeyCopy): KeptFile {
  return { size, modifiedMs, bytes: bytes.toString('base64'), sha256: digestOf(bytes) };
}

function digestOf(bytes: Buffer): string {
  return createHash('sha256').update(bytes).digest('hex');
}

function isSame(a: Kept, b: Kept): boolean {
  if (a.complete !== b.complete || a.large !== b.large) return false;
  const entries = Object.entries(a.files);
  const same = ([key, file]: (typeof entries)[number]): boolean =>
    JSON.stringify(file) === JSON.stringify(b.files[key]);
  return entries.length === Object.keys(b.files).length && entries.every(same);
}

function readKept(path: string): Kept {
  try {
    const bytes = readFileSync(path);
    if (bytes.length > LARGEST_FILE) return NOTHING;
    const value: unknown = JSON.parse(bytes.toString());
    return isKept(value) ? value : NOTHING;
  } catch {
    // There is no file yet, or it is unusable.
    return NOTHING;
  }
}

function writeKept(path: string, kept: Kept): void {
  const temporary = `${path}.tmp-${randomBytes(8).toString('hex')}`;
  try {
    makeDirectoriesSync(dirname(path));
    writeFileSync(temporary, `${JSON.stringify(kept)}\n`, { mode: 0o600, flag: 'wx' });
    renameSync(temporary, path);
  } catch {
    discard(temporary);
  }
}

function discard(path: string): void {
  try {
    rmSync(path, { force: true });
  } catch {
    // A file that cannot be written cannot be removed either.
  }
}

function isKept(value: unknown): value is Kept {
  if (typeof value !== 'object' || value === null) return false;
  const { version, complete, large, files }: Partial<Record<keyof Kept, unknown>> = value;
  if (version !== VERSION || typeof complete !== 'boolean' || typeof large !== 'boolean') return false;
  return typeof files === 'object' && files !== null && Object.values(files).every(isKeptFile);
}

function isKeptFile(value: unknown): value is KeptFile {
  if (typeof value !== 'object' || value === null) return false;
  const { size, modifiedMs, bytes, sha256 }: Partial<Record<keyof KeptFile, unknown>> = value;
  return (
    Number.isSafeInteger(size) &&
    Number.isSafeInteger(modifiedMs) &&
    typeof bytes === 'string' &&
    typeof sha256 === 'string'
  );
}
