/** Asks before somebody leaves a page on which something is not saved. */
import type { JSX } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { Actions, Button } from '../../components/button.tsx';
import { Dialog } from '../../components/dialog.tsx';
import { t } from '../../language/language.ts';
import { goTo, guardLeaving, readRoute } from '../../route.ts';

/** While it is in the document. Whoever leaves while it is being saved is not asked, and goes on once it is. */
export function LeaveGuard({ isSaving }: { readonly isSaving: boolean }): JSX.Element | null {
  const [target, setTarget] = useState<string | undefined>(undefined);
  const here = useRef(location.hash);
  const isLeaving = useRef(false);
  const saving = useRef(isSaving);
  saving.current = isSaving;
  const onceSaved = useRef<string | undefined>(undefined);
  useEffect(() => {
    guardLeaving((wanted) => {
      if (isLeaving.current || pageOf(wanted) === pageOf(here.current)) return true;
      // The address goes back to what is shown until the person has decided.
      history.pushState(null, '', here.current);
      if (saving.current) onceSaved.current = wanted;
      else setTarget(wanted);
      return false;
    });
    const closing = (event: BeforeUnloadEvent): void => event.preventDefault();
    addEventListener('beforeunload', closing);
    return () => {
      guardLeaving(undefined);
      removeEventListener('beforeunload', closing);
      if (onceSaved.current !== undefined) goTo(onceSaved.current);
    };
  }, []);
  useEffect(() => {
    // Still here, so it could not be saved: that has to be read first.
    if (!isSaving) onceSaved.current = undefined;
  }, [isSaving]);
  if (target === undefined) return null;
  const leave = (): void => {
    isLeaving.current = true;
    goTo(target);
  };
  return (
    <Dialog title={t.settings.leaveTitle} onClose={() => setTarget(undefined)}>
      <p>{t.settings.leaveQuestion}</p>
      <Actions>
        <Button type="button" look="main-action" onClick={() => setTarget(undefined)}>
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
