/** Hands the result of a restore on: as text for a mail, and what failed as a table. */
import type { JSX } from 'preact';
import { useMemo } from 'preact/hooks';
import type { JobLog, Restore } from '../../../api/schemas/job.ts';
import type { Snapshot } from '../../../api/schemas/snapshot.ts';
import { ask } from '../../agent/ask.ts';
import { useAsked } from '../../agent/use-asked.ts';
import { Actions } from '../../components/button.tsx';
import { CopyButton } from '../../components/command.tsx';
import { t } from '../../language/language.ts';
import { useBlobAddress } from './preview.tsx';
import { problemsCsv, reportText } from './report-text.ts';

export function RestoreShare({
  job,
  problems,
}: {
  readonly job: Restore;
  readonly problems: JobLog['problems'];
}): JSX.Element {
  // It may have been removed since, or its destination is away: then its id has to do.
  const { data: snapshot } = useAsked(
    async (signal) =>
      await ask<Snapshot>('GET', `/snapshots/${encodeURIComponent(job.snapshot_id)}`, { signal }),
    [job.snapshot_id],
  );
  const csv = useMemo(
    () => (problems.length === 0 ? undefined : new Blob([problemsCsv(problems)], { type: 'text/csv' })),
    [problems],
  );
  const address = useBlobAddress(csv);
  return (
    <div class="share">
      <Actions>
        <CopyButton name={t.restore.copyReport} text={reportText(job, snapshot, problems)} />
        {address === undefined ? null : (
          <a class="button plain" href={address} download={`${job.id}.csv`}>
            {t.restore.failedList}
          </a>
        )}
      </Actions>
    </div>
  );
}
