/** Asks before somebody leaves a page on which something is not saved, or signs out on it. */
import type { JSX } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { Actions, Button } from '../../components/button.tsx';
import { Dialog } from '../../components/dialog.tsx';
import { t } from '../../language/language.ts';
import { goTo, guardLeaving, readRoute } from '../../parts/route.ts';

interface Leaving {
  readonly leave: () => void;
}

/** While it is in the document. Whoever leaves while it is being saved is not asked, and goes on once it is. */
export function LeaveGuard({ isSaving }: { readonly isSaving: boolean }): JSX.Element | null {
  /** What is done when they say so. */
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
      // The address goes back to what is shown until the person has decided.
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
    // Still here, so it could not be saved: that has to be read first.
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
