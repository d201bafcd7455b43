import type { JSX } from 'preact';
import { t } from '../../language/language.ts';
import { ChoiceSetting } from './setting-fields.tsx';

/** Setting of how the content of a source is compressed. */
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
