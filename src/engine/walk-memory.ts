/**
 * Remembers by which rules the newest snapshot of each source was made. With a change set only changes are examined,
 * which is correct only when the rules are unchanged: what they left out last time is not searched again.
 */
import { createHash, randomBytes } from 'node:crypto';
import { rename, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { makeDirectories } from '../base/make-directories.ts';
import { readFileIfPresent } from '../base/atomic-file.ts';
import type { ByteString } from '../base/byte-path.ts';
import { causeText } from '../base/errno-words.ts';
import { StateError } from '../base/errors.ts';
import { sentences } from './job-error.ts';
import type { Report } from './report.ts';

export interface WalkKey {
  readonly stateDirectory: string;
  readonly repositoryId: string;
  readonly sources: readonly ByteString[];
}

export interface LastWalk {
  readonly snapshot: string;
  /** Digest of the exclude rules. */
  readonly rules: string;
  /** Whether it used rules from files that are not in the snapshot. */
  readonly hiddenRules: boolean;
}

/** For plain data, such as exclude options. */
export function digestOf(value: unknown): string {
  return createHash('sha256').update(JSON.stringify(value)).digest('hex');
}

/** Undefined when nothing is known, which only means a full walk. */
export async function recallWalk(key: WalkKey): Promise<LastWalk | undefined> {
  const stored = await readFileIfPresent(pathOf(key));
  if (stored === undefined) return undefined;
  let value: unknown;
  try {
    value = JSON.parse(stored.toString('utf8'));
  } catch {
    return undefined;
  }
  return isLastWalk(value) ? value : undefined;
}

/**
 * Not made durable, as that would take longer than the rest of a quick backup. A file that a power failure loses or
 * truncates only means a full walk the next time.
 * @throws {StateError}
 */
export async function rememberWalk(key: WalkKey, walk: LastWalk): Promise<void> {
  const path = pathOf(key);
  const temporary = `${path}.${randomBytes(8).toString('hex')}`;
  try {
    await makeDirectories(dirname(path));
    await writeFile(temporary, `${JSON.stringify(walk)}\n`, { mode: 0o600 });
    await rename(temporary, path);
  } catch (cause) {
    await Promise.allSettled([rm(temporary, { force: true })]);
    throw new StateError('WRITE_ERROR', `Cannot write ${path}: ${causeText(cause)}`, {
      hint: 'Check that the state directory is writable and that the disk has space.',
      cause,
    });
  }
}

/** A failure is only noted, as it merely means that the next run walks everything. */
export async function rememberWalkIfPossible(
  key: WalkKey,
  walk: LastWalk,
  report: Pick<Report, 'note'>,
): Promise<void> {
  try {
    await rememberWalk(key, walk);
  } catch (error) {
    if (!(error instanceof StateError)) throw error;
    report.note(sentences(error.message, error.hint));
  }
}

function pathOf({ stateDirectory, repositoryId, sources }: WalkKey): string {
  const name = digestOf([repositoryId, ...sources]).slice(0, 32);
  return join(stateDirectory, 'walks', `${name}.json`);
}

function isLastWalk(value: unknown): value is LastWalk {
  if (typeof value !== 'object' || value === null) return false;
  const walk: Partial<Record<keyof LastWalk, unknown>> = value;
  return (
    typeof walk.snapshot === 'string' &&
    typeof walk.rules === 'string' &&
    typeof walk.hiddenRules === 'boolean'
  );
}
