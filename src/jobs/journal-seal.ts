/** The journal's key, and the encryption of its lines: they can be read on this machine only, and changes are detected. */
import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';
import {
  closeSync,
  constants,
  fstatSync,
  fsyncSync,
  openSync,
  readFileSync,
  renameSync,
  writeSync,
} from 'node:fs';
import { accessProblem, openNewPrivateSync } from '../base/private-files.ts';
import { causeText } from '../base/errno-words.ts';
import { StateError, errnoOf } from '../base/errors.ts';
import type { DurableRecord } from '../db/durable.ts';

const NONCE_BYTES = 12;
const TAG_BYTES = 16;
const PURPOSE = 'holdfast journal 1';

/**
 * Reads the key at `path`, or makes one. A damaged key is set aside: the lines sealed with it are lost, but the agent can go on.
 * @throws {StateError} STATE_NOT_PRIVATE, READ_ERROR, WRITE_ERROR
 */
export function journalKey(path: string): Buffer {
  const found = readKey(path);
  if (found === undefined) return createKey(path);
  const hex = /^([0-9a-f]{64})\s*$/.exec(found)?.[1];
  if (hex !== undefined) return Buffer.from(hex, 'hex');
  renameSync(path, `${path}.damaged-${randomBytes(4).toString('hex')}`);
  return createKey(path);
}

function readKey(path: string): string | undefined {
  let file: number;
  try {
    file = openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW);
  } catch (cause) {
    if (errnoOf(cause) === 'ENOENT') return undefined;
    const hint = errnoOf(cause) === 'ELOOP' ? 'It is a symbolic link. Replace it with the file itself.' : '';
    throw new StateError('READ_ERROR', `The key of the journal ${path} cannot be read`, { hint, cause });
  }
  try {
    const { uid, mode, size } = fstatSync(file);
    const ours = process.geteuid === undefined || uid === process.geteuid();
    const onWindows = accessProblem(path, 'file', file);
    if (onWindows !== undefined || (process.platform !== 'win32' && (!ours || (mode & 0o077) !== 0))) {
      throw new StateError('STATE_NOT_PRIVATE', `The key of the journal ${path} is open to other users`, {
        hint: `If you did not intend that, remove the file, and Holdfast makes a new key. Otherwise run: ${onWindows?.command ?? `chmod 600 ${path}`}`,
      });
    }
    return size < 100 ? readFileSync(file, 'latin1') : '';
  } finally {
    closeSync(file);
  }
}

function createKey(path: string): Buffer {
  const key = randomBytes(32);
  const temporary = `${path}.${randomBytes(8).toString('hex')}`;
  try {
    const file = openNewPrivateSync(temporary);
    try {
      writeSync(file, `${key.toString('hex')}\n`);
      fsyncSync(file);
    } finally {
      closeSync(file);
    }
    renameSync(temporary, path);
    return key;
  } catch (cause) {
    throw new StateError(
      'WRITE_ERROR',
      `The key of the journal ${path} cannot be written: ${causeText(cause)}`,
      { hint: 'Check that the state directory is writable and that the disk has space.', cause },
    );
  }
}

/**
 * Seals one line, including its newline. `file`, the number of the journal file, is authenticated with it, so that a
 * line is valid in that file only.
 */
export function sealLine(key: Buffer, file: number, record: DurableRecord): string {
  const nonce = randomBytes(NONCE_BYTES);
  const cipher = createCipheriv('aes-256-gcm', key, nonce, { authTagLength: TAG_BYTES });
  cipher.setAAD(Buffer.from(`${PURPOSE} ${file}`));
  const sealed = [nonce, cipher.update(JSON.stringify(record), 'utf8'), cipher.final(), cipher.getAuthTag()];
  return `${Buffer.concat(sealed).toString('base64')}\n`;
}

/** The record in a line; undefined when the line is damaged or was sealed with another key. */
export function openLine(key: Buffer, file: number, line: string): DurableRecord | undefined {
  const bytes = Buffer.from(line, 'base64');
  if (bytes.length <= NONCE_BYTES + TAG_BYTES) return undefined;
  const nonce = bytes.subarray(0, NONCE_BYTES);
  const decipher = createDecipheriv('aes-256-gcm', key, nonce, { authTagLength: TAG_BYTES });
  decipher.setAAD(Buffer.from(`${PURPOSE} ${file}`));
  decipher.setAuthTag(bytes.subarray(-TAG_BYTES));
  try {
    const text = Buffer.concat([decipher.update(bytes.subarray(NONCE_BYTES, -TAG_BYTES)), decipher.final()]);
    return JSON.parse(text.toString('utf8')) as DurableRecord;
  } catch {
    // The cipher throws when authentication fails.
    return undefined;
  }
}
