/** Compares a restored file with its content in the snapshot. */
import { chmodSync, closeSync, constants, fstatSync, openSync, readSync } from 'node:fs';
import { type ByteString } from '../base/byte-path.ts';
import { fsPath, pathText } from '../base/tree-path.ts';
import { errnoOf } from '../base/errors.ts';
import type { ContentReader } from '../browse/cat.ts';
import type { PickedFile } from '../browse/file-sample.ts';
import { isDamage } from '../browse/snapshot-trees.ts';
import type { JobProblem } from '../jobs/job.ts';

/**
 * Reads the content from the snapshot, each chunk checked against its id, and compares it with the restored file.
 *
 * @param restored undefined when the file was not restored: then it is only read from the snapshot
 * @returns what is wrong; undefined when all is well
 */
export async function compareRestored(
  content: ContentReader,
  { path, entry }: PickedFile,
  restored: ByteString | undefined,
  signal: AbortSignal,
): Promise<JobProblem | undefined> {
  const problem = (code: string, message: string): JobProblem => ({ path: pathText(path), code, message });
  let file: number | undefined;
  try {
    if (restored !== undefined) {
      // The mode may forbid reading even to the owner.
      chmodSync(fsPath(restored), 0o600);
      file = openSync(fsPath(restored), constants.O_RDONLY | constants.O_NOFOLLOW);
      const { size } = fstatSync(file);
      if (size !== entry.size)
        return problem(
          'DIFFERENT',
          `it has ${size} bytes after the restore, but ${entry.size} in the snapshot`,
        );
    }
    let at = 0;
    for await (const bytes of content.read(entry, undefined, signal)) {
      if (file !== undefined && !sameBytes(file, at, bytes))
        return problem('DIFFERENT', `after the restore its bytes differ from byte ${at} onwards`);
      at += bytes.length;
    }
    return undefined;
  } catch (error) {
    if (isDamage(error)) return problem('CORRUPT_DATA', error.message);
    const errno = errnoOf(error);
    if (errno === 'ENOENT' || errno === 'ELOOP') return problem(errno, 'it is missing after the restore');
    throw error;
  } finally {
    if (file !== undefined) closeSync(file);
  }
}

function sameBytes(file: number, at: number, expected: Buffer): boolean {
  const actual = Buffer.allocUnsafe(expected.length);
  let filled = 0;
  while (filled < expected.length) {
    const got = readSync(file, actual, filled, expected.length - filled, at + filled);
    if (got === 0) return false;
    filled += got;
  }
  return actual.equals(expected);
}
