/** A window within the page. It keeps the keyboard focus until it is closed, which Escape does, too. */
import type { ComponentChildren, JSX } from 'preact';
import { useEffect, useId, useRef } from 'preact/hooks';
import { t } from '../language/language.ts';
import { Button } from './button.tsx';

export interface DialogFacts {
  readonly title: ComponentChildren;
  readonly onClose: () => void;
  readonly isWide?: boolean;
  readonly children: ComponentChildren;
}

/** A dialog is open for as long as it is in the document. */
export function Dialog({ title, onClose, isWide = false, children }: DialogFacts): JSX.Element {
  const element = useRef<HTMLDialogElement>(null);
  const name = useId();
  useEffect(() => {
    const before = document.activeElement;
    element.current?.showModal();
    return () => {
      // Returns the focus to what opened the dialog.
      if (before instanceof HTMLElement) before.focus();
    };
  }, []);
  return (
    <dialog ref={element} class={isWide ? 'wide-dialog' : undefined} aria-labelledby={name} onClose={onClose}>
      <div class="dialog-head">
        <h2 id={name}>{title}</h2>
        <Button type="button" look="plain" onClick={() => element.current?.close()}>
          {t.common.close}
        </Button>
      </div>
      {children}
    </dialog>
  );
}
