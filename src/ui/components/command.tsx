/** The same by command line or curl, to be copied. */
import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { t } from '../language/language.ts';
import { Button } from './button.tsx';

export function Command({
  lines,
  title,
}: {
  readonly lines: readonly string[];
  readonly title?: string;
}): JSX.Element {
  const [isCopied, setCopied] = useState(false);
  const copy = async (): Promise<void> => {
    await navigator.clipboard.writeText(lines.join('\n'));
    setCopied(true);
  };
  return (
    <details class="command">
      <summary>{title ?? t.common.commandLine}</summary>
      <pre>{lines.join('\n')}</pre>
      <Button type="button" look="plain" onClick={() => void copy()}>
        {isCopied ? t.common.copied : t.common.copy}
      </Button>
    </details>
  );
}
