/** A window within the page. It keeps the keyboard focus until it is closed, which Escape does, too. */
import type { ComponentChildren, JSX } from 'preact';
import { useEffect, useId, useRef } from 'preact/hooks';
import { t } from '../language/language.ts';
import { Button } from './button.tsx';

export interface DialogFacts {
  readonly title: ComponentChildren;
  readonly onClose: () => void;
  readonly isWide?: boolean;
  /** Whether it fills the window: its head stays, and so do the actions at its end. */
  readonly isWhole?: boolean;
  /** Buttons beside the one that closes it. */
  readonly buttons?: ComponentChildren;
  readonly onKeyDown?: (event: KeyboardEvent) => void;
  readonly children: ComponentChildren;
}

/** A dialog is open for as long as it is in the document. */
export function Dialog(facts: DialogFacts): JSX.Element {
  const { title, onClose, isWide = false, isWhole = false, buttons, onKeyDown, children } = facts;
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
    <dialog
      ref={element}
      class={isWhole ? 'whole-dialog' : isWide ? 'wide-dialog' : undefined}
      aria-labelledby={name}
      onClose={onClose}
      {...(onKeyDown === undefined ? {} : { onKeyDown })}
    >
      <div class="dialog-head">
        <h2 id={name}>{title}</h2>
        <div class="dialog-buttons">
          {buttons}
          <Button type="button" look="plain" onClick={() => element.current?.close()}>
            {t.common.close}
          </Button>
        </div>
      </div>
      {children}
    </dialog>
  );
}
