/** Asks before the user leaves a page with unsaved changes, or signs out on it. */
import type { JSX } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { Actions, Button } from '../../components/button.tsx';
import { Dialog } from '../../components/dialog.tsx';
import { t } from '../../language/language.ts';
import { goTo, guardLeaving, readRoute } from '../../parts/route.ts';

interface Leaving {
  readonly leave: () => void;
}

/** Guards the page while it is in the document. Users who leave during saving are not asked, and leave once it is saved. */
export function LeaveGuard({ isSaving }: { readonly isSaving: boolean }): JSX.Element | null {
  /** What to do when the user agrees to leave. */
  const [leaving, setLeaving] = useState<Leaving | undefined>(undefined);
  const here = useRef(location.hash);
  const isLeaving = useRef(false);
  const saving = useRef(isSaving);
  saving.current = isSaving;
  const onceSaved = useRef<(() => void) | undefined>(undefined);
  useEffect(() => {
    const ask = (leave: () => void): void => {
      if (saving.current) onceSaved.current = leave;
      else setLeaving({ leave });
    };
    const mayShow = (wanted: string): boolean => {
      if (isLeaving.current || pageOf(wanted) === pageOf(here.current)) return true;
      // The address returns to the page that is shown until the user has decided.
      history.pushState(null, '', here.current);
      ask(() => {
        isLeaving.current = true;
        goTo(wanted);
      });
      return false;
    };
    guardLeaving({ mayShow, ask });
    const closing = (event: BeforeUnloadEvent): void => event.preventDefault();
    addEventListener('beforeunload', closing);
    return () => {
      guardLeaving(undefined);
      removeEventListener('beforeunload', closing);
      onceSaved.current?.();
    };
  }, []);
  useEffect(() => {
    // The page is still shown, so saving has failed: the user has to see that first.
    if (!isSaving) onceSaved.current = undefined;
  }, [isSaving]);
  if (leaving === undefined) return null;
  const stay = (): void => setLeaving(undefined);
  const leave = (): void => {
    stay();
    leaving.leave();
  };
  return (
    <Dialog title={t.settings.leaveTitle} onClose={stay}>
      <p>{t.settings.leaveQuestion}</p>
      <Actions>
        <Button type="button" look="main-action" onClick={stay}>
          {t.settings.stay}
        </Button>
        <Button type="button" look="danger" onClick={leave}>
          {t.settings.leave}
        </Button>
      </Actions>
    </Dialog>
  );
}

function pageOf(hash: string): string {
  return readRoute(hash).path.slice(0, 2).join('/');
}
