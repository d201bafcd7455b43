/** Shows an error in the reader's language if its code is known, and in the agent's own words. */
import type { ComponentChildren, JSX } from 'preact';
import type { Restore } from '../../api/schemas/job.ts';
import type { AskError } from '../agent/ask.ts';
import { t } from '../language/language.ts';
import { Own } from './own-text.tsx';
import { Notice } from './tag.tsx';

export function Problem({
  error,
  children,
}: {
  readonly error: AskError | undefined;
  /** What the error is about, if the surroundings do not say so. */
  readonly children?: ComponentChildren;
}): JSX.Element | null {
  if (error === undefined) return null;
  const said = errorWords(error);
  return (
    <Notice look="bad" urgent>
      {children}
      {said === undefined ? null : <p>{said}</p>}
      {said !== undefined && error.code === 'OFFLINE' ? null : (
        <p>
          <Own>{error.message}</Own>
        </p>
      )}
    </Notice>
  );
}

/**
 * Words for an error whose code is known, for its cause where that has words of its own. A storage that is only away is
 * not reported as failed.
 * @param type of the job that failed
 */
export function errorWords(
  { code, details = {} }: { readonly code: string; readonly details?: object | undefined },
  type = '',
): string | undefined {
  const { reason, errno, found, is_there: isThere } = details as Readonly<Record<string, unknown>>;
  if (reason === 'away') return t.problems['DESTINATION_UNREACHABLE'];
  const foreign = found === undefined ? undefined : 'foreign';
  const cause = isThere === false ? 'gone' : (reason ?? foreign ?? (errno === 'EPERM' ? 'EACCES' : errno));
  return (
    t.problems[`${code}.${String(cause)}`] ??
    t.problems[`${type}.${code}`] ??
    t.problems[`failed.${code}`] ??
    t.problems[code]
  );
}

/** Shows why a restore failed. */
export function JobError({ job: { error } }: { readonly job: Restore }): JSX.Element {
  const said = error === null ? undefined : errorWords(error, 'restore');
  return (
    <Notice look="bad" urgent>
      <p>{said ?? t.restore.failed}</p>
      {error === null ? null : (
        <p>
          <Own>{error.message}</Own>
        </p>
      )}
    </Notice>
  );
}
