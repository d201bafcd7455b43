/** Shows above every page what must not be overlooked. */
import type { JSX } from 'preact';
import { ask } from './agent/ask.ts';
import { useOverview, useOverviewAgain } from './agent/overview.ts';
import { useAction } from './agent/use-asked.ts';
import { Button } from './components/button.tsx';
import { Problem } from './components/problem.tsx';
import { Notice } from './components/tag.tsx';
import { formatTime } from './language/format.ts';
import { t } from './language/language.ts';
import { NotByKit, useNotByKit } from './parts/not-by-kit.tsx';
import { hrefOf } from './parts/route.ts';

/** `page`: the page that is shown. No banner leads to the page that the user is on. */
export function Banners({ page }: { readonly page: string }): JSX.Element {
  const { alarms, pause, recovery_kit: kit, sources, version, installed_version: installed } = useOverview();
  const others = useNotByKit();
  return (
    <>
      {alarms > 0 && page !== 'alarms' ? (
        <Notice look="bad" urgent>
          <p>{t.app.alarmsOpen(alarms)}</p>
          <a href={hrefOf(['alarms'])}>{t.app.alarmsLook}</a>
        </Notice>
      ) : null}
      {kit === 'unsaved' && page !== 'start' && sources.length > 0 ? (
        <Notice look="warning">
          <div>
            <p>{others.length === 0 ? t.app.kitUnsaved : t.app.kitUnsavedPartly}</p>
            <NotByKit places={others} />
          </div>
          <a href={hrefOf(['settings', 'encryption'])}>{t.app.kitSave}</a>
        </Notice>
      ) : null}
      {installed === version ? null : (
        <Notice look="warning">
          <p>{t.app.otherVersion(version, installed)}</p>
        </Notice>
      )}
      {pause === null ? null : <Paused until={pause.until} />}
    </>
  );
}

function Paused({ until }: { readonly until: string | null }): JSX.Element {
  const again = useOverviewAgain();
  const resume = useAction(async () => {
    await ask('POST', '/resume');
    again();
  });
  return (
    <>
      <Notice look="warning">
        <p>{t.app.paused(until === null ? null : formatTime(until))}</p>
        <Button type="button" look="plain" disabled={resume.isBusy} onClick={() => void resume.run()}>
          {t.app.resume}
        </Button>
      </Notice>
      <Problem error={resume.problem} />
    </>
  );
}
