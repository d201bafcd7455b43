import type { JSX } from 'preact';
import type { Restore } from '../../../api/schemas/restore.ts';
import { Own } from '../../components/own-text.tsx';
import { Notice } from '../../components/tag.tsx';
import { t } from '../../language/language.ts';
import { problemWords } from '../../language/problem-words.ts';

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
