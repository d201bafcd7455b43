import type { JSX } from 'preact';
import { t } from '../../language/language.ts';
import { ChoiceSetting } from './setting-fields.tsx';

/** How the contents of one source are compressed. */
export function CompressionSetting({
  index,
  label,
}: {
  readonly index: number;
  readonly label?: JSX.Element;
}): JSX.Element {
  return (
    <ChoiceSetting
      path={['sources', index, 'compression']}
      {...(label === undefined ? {} : { label })}
      choices={['zstd', 'zstd:1', 'zstd:9', 'zstd:19', 'auto', 'none'].map((value) => ({
        value,
        label: t.performance.compressions[value] ?? value,
      }))}
    />
  );
}
