/** Puts a text into the clipboard, and says so. */
import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { t } from '../language/language.ts';
import { Button } from './button.tsx';

/** `label`: what is copied, for screen readers. */
export function CopyButton({ text, label }: { readonly text: string; readonly label: string }): JSX.Element {
  const [isCopied, setCopied] = useState(false);
  const copy = async (): Promise<void> => {
    await navigator.clipboard.writeText(text);
    setCopied(true);
  };
  return (
    <>
      <Button type="button" look="plain" onClick={() => void copy()}>
        {isCopied ? t.common.copied : t.common.copy}
        <span class="unseen">: {label}</span>
      </Button>
      <span class="unseen" role="status">
        {isCopied ? t.common.copied : ''}
      </span>
    </>
  );
}
