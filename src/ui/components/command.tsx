/** Texts to be copied, and the same action as a command line or curl call. */
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
  const text = lines.join('\n');
  return (
    <details class="command">
      <summary>{title ?? t.common.commandLine}</summary>
      <pre>{text}</pre>
      <CopyButton text={text} />
    </details>
  );
}

interface Attempt {
  readonly text: string;
  readonly hasWorked: boolean;
}

/**
 * `label`: what is copied, for screen readers; needed if neither the surroundings of the button nor its `name` say so.
 */
export function CopyButton({
  text,
  label,
  name = t.common.copy,
}: {
  readonly text: string;
  readonly label?: string;
  readonly name?: string;
}): JSX.Element {
  const [last, setLast] = useState<Attempt | undefined>(undefined);
  const copy = async (): Promise<void> => {
    try {
      await navigator.clipboard.writeText(text);
      setLast({ text, hasWorked: true });
    } catch {
      // Browsers forbid it without a secure connection, in a frame, and when the user refuses.
      setLast({ text, hasWorked: false });
    }
  };
  // The outcome for another text does not apply to this one.
  const attempt = last?.text === text ? last : undefined;
  const hasFailed = attempt?.hasWorked === false;
  return (
    <>
      <Button type="button" look="plain" onClick={() => void copy()}>
        {attempt?.hasWorked === true ? t.common.copied : name}
        {label === undefined ? null : <span class="unseen">: {label}</span>}
      </Button>
      <span class={hasFailed ? 'problem' : 'unseen'} role="status">
        {attempt === undefined ? '' : hasFailed ? t.common.notCopied : t.common.copied}
      </span>
    </>
  );
}
