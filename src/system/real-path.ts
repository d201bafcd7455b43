import { pathText, treePath } from '../base/tree-path.ts';
import { realPath } from '../base/typed-path.ts';
import { errnoOf } from '../base/errors.ts';
import { touchFar } from './far-answer.ts';
import { farPlaceOf } from './far-mounts.ts';

/** Milliseconds to wait for one of Holdfast's own places; callers wait for this. */
const PATIENCE_MS = 5_000;

export interface RealPath {
  readonly path: string;
  /** False where its file system fails or does not answer. */
  readonly answers: boolean;
}

/**
 * The path with links resolved, as far as possible where its file system fails or does not answer. Undefined where
 * nothing exists.
 */
export async function whereItReallyLies(path: string, signal: AbortSignal): Promise<RealPath | undefined> {
  const far = farPlaceOf(treePath(path));
  if (far !== undefined) {
    const answer = await touchFar(far.path, signal, { mount: far.mount, patienceMs: PATIENCE_MS });
    if (answer === 'unanswered') return { path: pathText(far.path), answers: false };
  }
  try {
    return { path: realPath(path), answers: true };
  } catch (error) {
    const code = errnoOf(error);
    if (code === undefined) throw error;
    return code === 'ENOENT' ? undefined : { path: pathText(far?.path ?? treePath(path)), answers: false };
  }
}
