/** The same action as a command line or curl call, to be copied. */
import type { JSX } from 'preact';
import { t } from '../language/language.ts';
import { CopyButton } from './copy-button.tsx';

export function Command({
  lines,
  title,
}: {
  readonly lines: readonly string[];
  readonly title?: string;
}): JSX.Element {
  const text = lines.join('\n');
  return (
    <details class="command">
      <summary>{title ?? t.common.commandLine}</summary>
      <pre>{text}</pre>
      <CopyButton text={text} />
    </details>
  );
}
