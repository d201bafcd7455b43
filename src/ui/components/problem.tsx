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
  const said = problemWords(error);
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

/** Words for an error whose code is known. A storage that is only away is not reported as failed. */
function problemWords({
  code,
  details,
}: {
  readonly code: string;
  readonly details?: object | undefined;
}): string | undefined {
  const reason = details !== undefined && 'reason' in details ? details.reason : undefined;
  return reason === 'away' ? t.problems['DESTINATION_UNREACHABLE'] : t.problems[code];
}

/** Shows why a restore failed. */
export function JobError({ job: { error } }: { readonly job: Restore }): JSX.Element {
  const said = error === null ? undefined : problemWords(error);
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
