/** Actions for all sources: backing up now, and pausing. */
import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import type { PauseRequest } from '../../../api/schemas/job.ts';
import { ask } from '../../agent/ask.ts';
import { useOverview, useOverviewAgain } from '../../agent/overview.ts';
import { useAction } from '../../agent/use-asked.ts';
import { Actions, Button } from '../../components/button.tsx';
import { Dialog } from '../../components/dialog.tsx';
import { Problem } from '../../components/problem.tsx';
import { t } from '../../language/language.ts';
import { Refusals, useBackUp } from '../../parts/back-up.tsx';
import { hrefOf } from '../../parts/route.ts';
import { lastGood, tomorrowMorning } from './figures.ts';

const HOUR_SECONDS = 3_600;

export function OverviewActions(): JSX.Element {
  const { sources, pause, saved } = useOverview();
  // Also where the first backup to a new destination has not ended yet.
  const canRestore = saved.snapshots > 0 || lastGood(sources) !== null;
  const [isAsking, setAsking] = useState(false);
  const backUp = useBackUp(sources);
  return (
    <>
      {!canRestore ? null : (
        <a class="button main-action" href={hrefOf(['restore'])}>
          {t.overview.getBack}
        </a>
      )}
      <Button
        type="button"
        look={canRestore ? 'plain' : 'main-action'}
        disabled={backUp.isBusy}
        onClick={() => void backUp.run()}
      >
        {t.overview.backUpAll}
      </Button>
      {pause === null ? (
        <Button type="button" look="plain" aria-haspopup="dialog" onClick={() => setAsking(true)}>
          {t.overview.pause}
        </Button>
      ) : null}
      <span class="unseen" role="status">
        {backUp.backups === 0 ? '' : t.overview.started(backUp.backups)}
      </span>
      <Refusals of={backUp.refusals} />
      {isAsking ? <PauseDialog onClose={() => setAsking(false)} /> : null}
    </>
  );
}

function PauseDialog({ onClose }: { readonly onClose: () => void }): JSX.Element {
  const again = useOverviewAgain();
  const pause = useAction(async (request: PauseRequest) => {
    await ask('POST', '/pause', { body: request });
    again();
    onClose();
  });
  const choices: readonly (readonly [string, PauseRequest])[] = [
    [t.overview.pauseHour, { for: HOUR_SECONDS }],
    [t.overview.pauseTomorrow, { until: tomorrowMorning(new Date()).toISOString() }],
    [t.overview.pauseOpen, {}],
  ];
  return (
    <Dialog title={t.overview.pause.replace(/\s?…$/, '')} onClose={onClose}>
      <p>{t.overview.pauseQuestion}</p>
      <Problem error={pause.problem} />
      <Actions>
        {choices.map(([label, request]) => (
          <Button type="button" key={label} disabled={pause.isBusy} onClick={() => void pause.run(request)}>
            {label}
          </Button>
        ))}
      </Actions>
    </Dialog>
  );
}
