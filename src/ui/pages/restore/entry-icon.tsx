import type { JSX } from 'preact';
import type { File } from '../../../api/schemas/file.ts';
import { t } from '../../language/language.ts';

const SHAPES: Readonly<Record<File['type'], string>> = {
  directory: 'M1.5 3.5h4l1.5 2h7.5v8h-13z',
  file: 'M3.5 1.5h6l3 3v10h-9zM9.5 1.5v3h3',
  symlink: 'M3 12.5c0-5 3-7 8-7M8 2.5l3.5 3L8 8.5',
  other: 'M8 2.5a5.5 5.5 0 1 0 .01 0M8 5.5v3M8 11v.01',
};

/** The type of an entry as a picture, and as a word for screen readers. */
export function EntryIcon({ type }: { readonly type: File['type'] }): JSX.Element {
  return (
    <>
      <svg class={`kind ${type}`} viewBox="0 0 16 16" width="18" height="18" aria-hidden="true">
        <path d={SHAPES[type]} />
      </svg>
      {type === 'file' ? null : <span class="unseen">{t.restore.kinds[type]}: </span>}
    </>
  );
}
