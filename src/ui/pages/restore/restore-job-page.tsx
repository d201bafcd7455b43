/** Shows how far a restore is, and at the end its result. */
import type { JSX } from 'preact';
import type { JobLog, Restore } from '../../../api/schemas/job.ts';
import { ask } from '../../agent/ask.ts';
import { holdfast } from '../../agent/program.ts';
import { useAsked } from '../../agent/use-asked.ts';
import { Card, PageHead } from '../../components/card.tsx';
import { Command } from '../../components/command.tsx';
import { Path } from '../../components/own-text.tsx';
import { JobError, Problem } from '../../components/problem.tsx';
import { Facts, Tile, Tiles } from '../../components/table.tsx';
import { Notice } from '../../components/tag.tsx';
import { formatBytes, formatCount, formatDuration, formatTime } from '../../language/format.ts';
import { t } from '../../language/language.ts';
import { JobProgress } from '../../parts/job-progress.tsx';
import { hrefOf } from '../../parts/route.ts';
import { JobProblems } from '../jobs/job-problems.tsx';
import { PathList } from './path-list.tsx';
import { textRef } from './path-ref.ts';
import { outcomeOf, pathsOfJob, titleOf } from './report-text.ts';
import { useDestination } from './restore-dialog.tsx';
import { restoreCommand } from './restore-draft.ts';
import { RestoreShare } from './restore-share.tsx';
import { hasEnded, useRestore } from './use-restore.ts';

/** Seconds that a job takes at least: the agent counts whole ones, and nothing takes none. */
const SHORTEST = 0.1;
/** How many paths are named. */
const NAMED = 20;

export function RestoreJobPage({ id }: { readonly id: string }): JSX.Element {
  const { job, problem } = useRestore(id);
  const destination = useDestination(job);
  return (
    <>
      <a class="back" href={hrefOf(['restore'], { snapshot: job?.snapshot_id })}>
        ← {t.restore.backToFiles}
      </a>
      <PageHead title={titleOf(job)} />
      <Problem error={problem} />
      {job === undefined ? (
        <p class="quiet">{problem === undefined ? t.common.loading : ''}</p>
      ) : (
        <>
          {hasEnded(job) ? (
            <Report job={job} />
          ) : (
            <Card label={t.restore.progress}>
              <JobProgress job={job} />
            </Card>
          )}
          <JobFacts job={job} />
          <Command lines={[commandOf(job, destination), holdfast`jobs ${job.id}`]} />
        </>
      )}
    </>
  );
}

function Report({ job }: { readonly job: Restore }): JSX.Element {
  const { files_restored: restored, files_skipped: skipped, files_failed: failed, status, options } = job;
  const isDone = status === 'completed';
  const isClean = isDone && failed === 0 && job.warnings_count === 0;
  return (
    <>
      {status === 'failed' ? <JobError job={job} /> : null}
      {status === 'canceled' ? (
        <Notice look="warning">
          <p>{t.restore.wasCanceled}</p>
        </Notice>
      ) : null}
      {isDone && !options.dry_run ? (
        <Notice look={isClean ? 'good' : 'warning'}>
          <p>{outcomeOf(job)}</p>
        </Notice>
      ) : null}
      <Tiles>
        <Tile name={t.restore.restored}>{formatCount(restored)}</Tile>
        <Tile name={t.restore.skippedFiles}>{formatCount(skipped)}</Tile>
        <Tile name={t.restore.failedFiles}>{formatCount(failed)}</Tile>
        <Tile name={t.restore.written}>{formatBytes(job.size_bytes)}</Tile>
        <Tile name={t.restore.took}>{formatDuration(Math.max(SHORTEST, job.duration_seconds))}</Tile>
      </Tiles>
      {skipped > 0 ? <p class="quiet">{t.restore.skippedWhy}</p> : null}
      <Problems job={job} />
    </>
  );
}

function Problems({ job }: { readonly job: Restore }): JSX.Element | null {
  const { data, problem } = useAsked(
    async (signal) => await ask<JobLog>('GET', `/restore/${job.id}/log`, { signal }),
    [job.id, job.warnings_count],
  );
  if (problem !== undefined) return <Problem error={problem} />;
  if (data === undefined) return null;
  return (
    <>
      {job.options.dry_run ? null : <RestoreShare job={job} problems={data.problems} />}
      <JobProblems job={job} problems={data.problems} />
    </>
  );
}

function JobFacts({ job }: { readonly job: Restore }): JSX.Element {
  const { target, options, created_at: at } = job;
  const paths = pathsOfJob(job);
  return (
    <Card title={t.common.details}>
      <Facts
        rows={[
          [t.restore.where, target === null ? t.restore.original : <Path key="target">{target}</Path>],
          [
            t.restore.what,
            paths.length === 0 ? t.restore.whatAll : <PathList key="paths" paths={paths} most={NAMED} />,
          ],
          ...(target === null || paths.length === 0
            ? []
            : [
                [
                  t.restore.foundAt,
                  <PathList
                    key="found"
                    paths={paths.map(({ path }) => textRef(placeBelow(target, path)))}
                    most={NAMED}
                  />,
                ] as const,
              ]),
          [t.restore.overwrite, t.restore.overwriteModes[options.overwrite]],
          [t.restore.started, formatTime(at)],
          [
            t.restore.log,
            <a key="log" href={hrefOf(['jobs', job.id])}>
              {t.restore.showLog}
            </a>,
          ],
        ]}
      />
    </Card>
  );
}

/** Below a target everything keeps its whole path. */
function placeBelow(target: string, path: string): string {
  return `${target.replace(/\/+$/, '')}${path}`;
}

function commandOf(job: Restore, destination: string | undefined): string {
  const { snapshot_id: snapshot, target, options } = job;
  return restoreCommand({
    snapshot,
    paths: pathsOfJob(job),
    target,
    overwrite: options.overwrite,
    isVerified: options.verify,
    withOwnership: options.restore_ownership,
    deletesExtra: options.delete_extra,
    destination,
  });
}
