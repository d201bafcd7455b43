/** Shows an error in the reader's language if its code is known, and in the agent's own words. */
import type { ComponentChildren, JSX } from 'preact';
import type { AskError } from '../agent/ask.ts';
import { problemWords } from '../language/problem-words.ts';
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
