import type { JSX } from 'preact';
import type { Statement } from '../../../api/schemas/page/overview.ts';
import { useOverview } from '../../agent/overview.ts';
import { Filled } from '../../components/filled.tsx';
import { Path } from '../../components/own-text.tsx';
import { withPlaceNames } from '../../parts/place-name.ts';
import { sentenceOf } from './headline.ts';

/** A statement as a sentence in which names that the user chose stand out from the words around them. */
export function Said({ statement }: { readonly statement: Statement }): JSX.Element {
  const { checks, destinations } = useOverview();
  const { text, own } = sentenceOf(withPlaceNames(statement, destinations), checks);
  return (
    <Filled
      text={text}
      parts={own.map((path) => (
        <Path key={path}>{path}</Path>
      ))}
    />
  );
}
