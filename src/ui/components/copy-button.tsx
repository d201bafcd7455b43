/** Puts a text into the clipboard, and says whether that worked. */
import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { t } from '../language/language.ts';
import { Button } from './button.tsx';

interface Attempt {
  readonly text: string;
  readonly hasWorked: boolean;
}

/** `label`: what is copied, for screen readers; needed where it does not stand around the button. */
export function CopyButton({ text, label }: { readonly text: string; readonly label?: string }): JSX.Element {
  const [last, setLast] = useState<Attempt | undefined>(undefined);
  const copy = async (): Promise<void> => {
    try {
      await navigator.clipboard.writeText(text);
      setLast({ text, hasWorked: true });
    } catch {
      // Browsers forbid it without a safe connection, in a frame, and when the person says no.
      setLast({ text, hasWorked: false });
    }
  };
  // What was said of another text is not true of this one.
  const attempt = last?.text === text ? last : undefined;
  const hasFailed = attempt?.hasWorked === false;
  return (
    <>
      <Button type="button" look="plain" onClick={() => void copy()}>
        {attempt?.hasWorked === true ? t.common.copied : t.common.copy}
        {label === undefined ? null : <span class="unseen">: {label}</span>}
      </Button>
      <span class={hasFailed ? 'problem' : 'unseen'} role="status">
        {attempt === undefined ? '' : hasFailed ? t.common.notCopied : t.common.copied}
      </span>
    </>
  );
}
