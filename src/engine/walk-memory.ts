/**
 * By which rules the newest snapshot of each source was made. With a change set only what changed is looked at, which is
 * right only when the rules are the same as the last time: what they left out then is not looked for again.
 */
import { createHash, randomBytes } from 'node:crypto';
import { rename, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { makeDirectories } from '../base/make-directories.ts';
import { readFileIfPresent } from '../base/atomic-file.ts';
import type { ByteString } from '../base/byte-path.ts';
import { StateError, errnoOf } from '../base/errors.ts';
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
  /** It went by rules of files that are not in the snapshot. */
  readonly hiddenRules: boolean;
}

/** Of plain data, such as exclude options. */
export function digestOf(value: unknown): string {
  return createHash('sha256').update(JSON.stringify(value)).digest('hex');
}

/** Undefined when nothing is known, which only costs a whole walk. */
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
 * Not made durable, which would cost a quick backup more than the rest of it: what a power failure takes or leaves half
 * written is a walk the next time.
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
    throw new StateError('WRITE_ERROR', `Cannot write ${path} (${errnoOf(cause) ?? 'unknown error'})`, {
      hint: 'Check that the state directory is writable and that the disk has space.',
      cause,
    });
  }
}

/** Without it the next run walks everything, which is no reason to fail this one. */
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
