import type { JSX } from 'preact';
import { Path } from '../../components/own-text.tsx';
import { formatCount } from '../../language/format.ts';
import { t } from '../../language/language.ts';
import { keyOf, type PathRef } from './path-ref.ts';

interface PathListProps {
  readonly paths: readonly PathRef[];
  /** The most that are named; of the others only the number is told. */
  readonly most: number;
  readonly look?: 'bare-list' | 'chosen-paths';
}

export function PathList({ paths, most, look = 'bare-list' }: PathListProps): JSX.Element {
  return (
    <ul class={look}>
      {paths.slice(0, most).map((one) => (
        <li key={keyOf(one)}>
          <Path>{one.path}</Path>
        </li>
      ))}
      {paths.length > most ? <li>{t.restore.andMore(formatCount(paths.length - most))}</li> : null}
    </ul>
  );
}
