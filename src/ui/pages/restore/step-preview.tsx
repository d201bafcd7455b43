import type { JSX } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import type { RestorePreview } from '../../../api/schemas/page/jobs.ts';
import type { Restore } from '../../../api/schemas/job.ts';
import type { AskError } from '../../agent/ask.ts';
import { Button } from '../../components/button.tsx';
import { Path } from '../../components/own-text.tsx';
import { JobError, Problem } from '../../components/problem.tsx';
import { Tile, Tiles } from '../../components/table.tsx';
import { type Look, Notice, Tag } from '../../components/tag.tsx';
import { formatBytes, formatCount } from '../../language/format.ts';
import { t } from '../../language/language.ts';
import { requestOf, type RestoreDraft } from './restore-draft.ts';
import { RestorePlan } from './restore-plan.tsx';
import { waitingWords } from '../../parts/job-progress.tsx';
import { useRehearsal } from './use-restore.ts';

export interface PreviewStepFacts {
  readonly draft: RestoreDraft;
  /** Called when it is known what would happen, or cannot be known although the restore is possible. */
  readonly onTried: () => void;
  /** Called when the place is refused, and another one has to be given. */
  readonly onRefused: (error: AskError) => void;
}

export function PreviewStep(facts: PreviewStepFacts): JSX.Element {
  const [attempt, setAttempt] = useState(1);
  return (
    <>
      <RestorePlan draft={facts.draft} />
      <Attempt key={attempt} {...facts} onAgain={() => setAttempt(attempt + 1)} />
    </>
  );
}

function Attempt({
  draft,
  onTried,
  onRefused,
  onAgain,
}: PreviewStepFacts & { readonly onAgain: () => void }): JSX.Element {
  const { job, preview, problem } = useRehearsal(requestOf(draft, true));
  const isTried = preview !== undefined || (job?.status === 'completed' && problem !== undefined);
  useEffect(() => {
    if (isTried) onTried();
  }, [isTried]);
  const isRefused = problem?.code === 'INVALID_TARGET';
  useEffect(() => {
    if (problem !== undefined && isRefused) onRefused(problem);
  }, [isRefused]);
  if (problem !== undefined) return isRefused ? <></> : <Problem error={problem} />;
  if (job?.status === 'failed') return <JobError job={job} />;
  // It was canceled on another page, or on the command line.
  if (job?.status === 'canceled') {
    return (
      <Notice look="warning">
        <p>{t.restore.trialCanceled}</p>
        <Button type="button" look="plain" onClick={onAgain}>
          {t.common.retry}
        </Button>
      </Notice>
    );
  }
  if (preview === undefined) {
    return (
      <div role="status">
        <p class="quiet">{job?.status === 'queued' ? waitsFor(job) : t.restore.lookingAtIt}</p>
        <progress aria-label={t.restore.lookingAtIt} />
      </div>
    );
  }
  return <Result preview={preview} />;
}

function waitsFor(job: Restore): string {
  return job.waiting_for === null ? t.restore.waitsForOthers : waitingWords(job);
}

const LOOKS: Readonly<Record<RestorePreview['items'][number]['what'], Look>> = {
  overwritten: 'warning',
  kept: 'plain',
  deleted: 'bad',
};

function Result({ preview }: { readonly preview: RestorePreview }): JSX.Element {
  const { files_new: added, files_overwritten: overwritten, files_deleted: deleted } = preview;
  const { files_kept: kept, files_unchanged: same, bytes, items, is_cut: isCut } = preview;
  const nothing = added + overwritten + deleted === 0;
  return (
    <>
      <p role="status">{nothing ? t.restore.wouldDoNothing : t.restore.wouldWrite(formatBytes(bytes))}</p>
      <Tiles>
        <Tile name={t.restore.filesNew}>{formatCount(added)}</Tile>
        <Tile name={t.restore.filesOverwritten}>{formatCount(overwritten)}</Tile>
        <Tile name={t.restore.filesKept}>{formatCount(kept)}</Tile>
        <Tile name={t.restore.filesSame}>{formatCount(same)}</Tile>
        {deleted === 0 ? null : <Tile name={t.restore.filesDeleted}>{formatCount(deleted)}</Tile>}
      </Tiles>
      {overwritten + deleted === 0 ? null : (
        <Notice look="warning">
          <p>{t.restore.wouldLose(overwritten, formatCount(overwritten), deleted, formatCount(deleted))}</p>
        </Notice>
      )}
      {items.length === 0 ? null : (
        <ul class="preview-list" tabIndex={0} aria-label={t.restore.alreadyThere}>
          {items.map(({ path, what }) => (
            <li key={path}>
              <Tag look={LOOKS[what]}>{t.restore.whatHappens[what]}</Tag> <Path>{path}</Path>
            </li>
          ))}
        </ul>
      )}
      {isCut ? <p class="quiet">{t.restore.listCut(formatCount(items.length))}</p> : null}
    </>
  );
}
