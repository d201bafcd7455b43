/** The actions for a job: end it, run it again, look at what it made and changed. */
import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import type { AnyJob } from '../../../api/schemas/page/jobs.ts';
import { ask } from '../../agent/ask.ts';
import { useAction } from '../../agent/use-asked.ts';
import { Actions, AskFirst, Button } from '../../components/button.tsx';
import { Problem } from '../../components/problem.tsx';
import { t } from '../../language/language.ts';
import { ComparisonDialog } from '../../parts/comparison-dialog.tsx';
import { goTo, hrefOf } from '../../parts/route.ts';
import { isOver } from './job-words.ts';

export interface JobActionsFacts {
  readonly job: AnyJob;
  readonly onTold: (job: AnyJob) => void;
}

export function JobActions({ job, onTold }: JobActionsFacts): JSX.Element | null {
  const cancel = useAction(async () => {
    onTold(await ask<AnyJob>('POST', `/jobs/${encodeURIComponent(job.id)}/cancel`));
  });
  const again = useAction(async () => {
    if (job.type !== 'backup') return;
    const { source, destination, options } = job;
    const next = await ask<AnyJob>('POST', '/backup', { body: { source, destination, options } });
    goTo(hrefOf(['jobs', next.id]));
  });
  const [isCompared, setCompared] = useState(false);
  const snapshot = job.type === 'backup' ? job.snapshot_id : null;
  if (isOver(job) && job.type !== 'backup') return null;
  return (
    <>
      <Actions>
        {snapshot === null ? null : (
          <a class="button main-action" href={hrefOf(['restore'], { snapshot })}>
            {t.jobs.toSnapshot}
          </a>
        )}
        {snapshot === null ? null : (
          <Button type="button" onClick={() => setCompared(true)}>
            {t.parts.comparison.title}
          </Button>
        )}
        {job.type === 'backup' && isOver(job) ? (
          <Button type="button" disabled={again.isBusy} onClick={() => void again.run()}>
            {t.jobs.again}
          </Button>
        ) : null}
        {isOver(job) ? null : (
          <AskFirst label={t.jobs.cancel} look="danger" question={t.jobs.cancelQuestion[job.type]}>
            <Button type="button" look="danger" disabled={cancel.isBusy} onClick={() => void cancel.run()}>
              {t.jobs.cancelDo}
            </Button>
          </AskFirst>
        )}
      </Actions>
      <Problem error={cancel.problem ?? again.problem} />
      {snapshot === null || !isCompared ? null : (
        <ComparisonDialog
          snapshot={{ id: snapshot, created_at: job.finished_at ?? job.created_at }}
          onClose={() => setCompared(false)}
        />
      )}
    </>
  );
}
