/** Shows what is backed up, how old the last good backup is, and what can be done. */
import type { JSX } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import type { Backup } from '../../../api/schemas/job.ts';
import type { OverviewSource } from '../../../api/schemas/page/overview.ts';
import { ask, type AskError } from '../../agent/ask.ts';
import { useEvents } from '../../agent/events.ts';
import { isOver, useOverview } from '../../agent/overview.ts';
import { useAction, useAsked } from '../../agent/use-asked.ts';
import { Button } from '../../components/button.tsx';
import { Card } from '../../components/card.tsx';
import { Path, visible } from '../../components/own-text.tsx';
import { Problem } from '../../components/problem.tsx';
import { Notice, Tag } from '../../components/tag.tsx';
import { formatAge, formatBytes, formatCount, formatTime } from '../../language/format.ts';
import { t } from '../../language/language.ts';
import { Refusals, useBackUp } from '../../parts/back-up.tsx';
import { Place, useShownName } from '../../parts/place.tsx';
import { hrefOf } from '../../parts/route.ts';
import { bySource, earlierGood, lastGood, protectedIn, type SourceRows } from './figures.ts';
import { agoOf } from './headline.tsx';
import { damagedSources } from './remedies.ts';
import { HistoryStrip } from './history-strip.tsx';

export function SourcesCard(): JSX.Element {
  const overview = useOverview();
  const damaged = damagedSources(overview);
  return (
    <Card title={t.overview.sourcesTitle} className="rows">
      <ul class="divided">
        {bySource(overview.sources).map((source) => (
          <li key={source.path}>
            <Source {...source} isDamaged={damaged.has(source.path)} />
          </li>
        ))}
      </ul>
    </Card>
  );
}

/** A row that opens: what matters is in the row, everything else inside. */
function Source({ path, name, rows, isDamaged }: SourceRows & { readonly isDamaged: boolean }): JSX.Element {
  const texts = t.overview.sources;
  const last = lastGood(rows);
  const earlier = earlierGood(rows);
  const { files, bytes } = protectedIn(rows);
  const isBad = isDamaged || (last ?? earlier) === null || rows.some(({ overdue }) => overdue);
  return (
    <details class="row-details">
      <summary>
        <span class="row-name">
          <span class={`dot ${isBad ? 'bad' : 'good'}`} aria-hidden="true" />
          <strong>{name === '~' ? t.overview.home : <Path>{name}</Path>}</strong>
          {name === path ? null : (
            <small>
              <Path>{path}</Path>
            </small>
          )}
        </span>
        <span class="row-fact">
          <LastBackup last={last} earlier={earlier} />{' '}
          {isDamaged ? <Tag look="bad">{texts.damaged}</Tag> : null}{' '}
          {rows.some(({ overdue }) => overdue) ? <Tag look="bad">{texts.overdue}</Tag> : null}
        </span>
        <span class="row-fact number">
          {(last ?? earlier) === null
            ? ''
            : `${formatBytes(bytes)}, ${texts.files(files, formatCount(files))}`}
        </span>
      </summary>
      <SourceDetails path={path} rows={rows} isDamaged={isDamaged} />
    </details>
  );
}

function LastBackup({
  last,
  earlier,
}: {
  readonly last: string | null;
  readonly earlier: string | null;
}): JSX.Element {
  const texts = t.overview.sources;
  if (last !== null) return <time dateTime={last}>{texts.savedAgo(agoOf(last))}</time>;
  return earlier === null ? (
    <>{texts.notYet}</>
  ) : (
    <time dateTime={earlier}>{texts.earlierAgo(agoOf(earlier))}</time>
  );
}

function SourceDetails({
  path,
  rows,
  isDamaged,
}: Pick<SourceRows, 'path' | 'rows'> & { readonly isDamaged: boolean }): JSX.Element {
  const backUp = useBackUp(rows);
  const dryRun = useDryRun(rows);
  const texts = t.overview.sources;
  return (
    <div class="row-inside">
      <div class="head-actions">
        {(lastGood(rows) ?? earlierGood(rows)) === null ? null : (
          <a
            class="button"
            href={hrefOf(['restore'], { source: path })}
            aria-label={texts.restoreOf(visible(path))}
          >
            {texts.restore}
          </a>
        )}
        <Button
          type="button"
          look="plain"
          disabled={backUp.isBusy}
          aria-label={texts.backUpOf(visible(path))}
          onClick={() => void backUp.run()}
        >
          {texts.backUp}
        </Button>
        <Button
          type="button"
          look="plain"
          disabled={dryRun.isBusy}
          aria-label={texts.dryRunOf(visible(path))}
          onClick={() => void dryRun.run()}
        >
          {texts.dryRun}
        </Button>
      </div>
      {rows.map((row) => (
        <Row key={row.destination} row={row} isDamaged={isDamaged} />
      ))}
      <Refusals of={backUp.refusals} />
      <DryRunReport dryRun={dryRun} />
    </div>
  );
}

function Row({ row, isDamaged }: { readonly row: OverviewSource; readonly isDamaged: boolean }): JSX.Element {
  const texts = t.overview.sources;
  const shownName = useShownName();
  const { last_good_backup_at: last, next_run_at: next, size_bytes: size, files } = row;
  return (
    <dl class="source-row">
      <div>
        <dt>{texts.destination}</dt>
        <dd>
          <Place name={row.destination} />
          <small>{row.watching ? texts.watching : texts.notWatching}</small>
        </dd>
      </div>
      <div>
        <dt>{isDamaged ? texts.last : texts.lastGood}</dt>
        <dd>
          {last === null ? (
            texts.notYet
          ) : (
            <>
              <time dateTime={last}>{agoOf(last)}</time>
              <small>{formatTime(last)}</small>
              {isDamaged ? <a href={hrefOf(['alarms'])}>{t.app.alarmsLook}</a> : null}
            </>
          )}
        </dd>
      </div>
      <div>
        <dt>{texts.next}</dt>
        <dd>
          {next === null ? texts.noSchedule : <NextRun at={next} />}{' '}
          {row.overdue ? <Tag look="bad">{texts.overdue}</Tag> : null}
        </dd>
      </div>
      <div>
        <dt>{texts.size}</dt>
        <dd>
          {size === null ? t.common.none : formatBytes(size)}
          {files === null ? null : <small>{texts.files(files, formatCount(files))}</small>}
        </dd>
      </div>
      <div class="source-history">
        <dt>{texts.history}</dt>
        <dd>
          <HistoryStrip
            runs={row.history}
            label={`${texts.history}${t.common.colon} ${visible(row.path)}, ${shownName(row.destination)}`}
          />
        </dd>
      </div>
    </dl>
  );
}

function NextRun({ at }: { readonly at: string }): JSX.Element {
  const isDue = new Date(at).getTime() <= Date.now();
  return (
    <>
      <time dateTime={at}>{isDue ? t.common.now : formatAge(at)}</time>
      {isDue ? null : <small>{formatTime(at)}</small>}
    </>
  );
}

function DryRunReport({ dryRun }: { readonly dryRun: ReturnType<typeof useDryRun> }): JSX.Element {
  const { job, isBusy, problem } = dryRun;
  const texts = t.overview.sources;
  return (
    <>
      <div role="status">{isBusy ? <p class="quiet">{texts.dryRunning}</p> : null}</div>
      <Problem error={problem} />
      {isBusy || job === undefined ? null : (
        <Notice look={job.status === 'completed' ? 'good' : 'warning'}>
          <p>{job.status === 'completed' ? wouldDo(job) : texts.dryRunFailed}</p>
          <a href={hrefOf(['jobs', job.id])}>{texts.toJob}</a>
          <Button type="button" look="bare" onClick={dryRun.forget}>
            {t.common.close}
          </Button>
        </Notice>
      )}
    </>
  );
}

function wouldDo({ progress }: Backup): string {
  const changed = progress.files_new + progress.files_changed;
  const bytes = Math.max(0, progress.bytes_done - progress.bytes_deduplicated);
  return t.overview.sources.wouldDo(
    changed,
    formatCount(changed),
    formatBytes(bytes),
    formatCount(progress.files_total),
  );
}

export interface DryRun {
  /** The job after its end. */
  readonly job: Backup | undefined;
  readonly isBusy: boolean;
  readonly problem: AskError | undefined;
  readonly run: () => Promise<void>;
  readonly forget: () => void;
}

/** Uses the first destination: the others would store the same. */
function useDryRun(rows: readonly Pick<OverviewSource, 'path' | 'destination'>[]): DryRun {
  const [id, setId] = useState<string | undefined>(undefined);
  const [job, setJob] = useState<Backup | undefined>(undefined);
  // The job may end before its id is known, so it is fetched once and then followed by events.
  const asked = useAsked(
    async (signal) => (id === undefined ? undefined : await ask<Backup>('GET', `/jobs/${id}`, { signal })),
    [id],
  );
  const told = (newest: Backup | undefined): void => {
    if (newest !== undefined && newest.id === id && isOver(newest)) setJob(newest);
  };
  useEffect(() => told(asked.data), [asked.data]);
  useEvents((event) => {
    if (event.job?.type === 'backup') told(event.job);
  });
  const start = useAction(async () => {
    setJob(undefined);
    setId(undefined);
    const { id: started } = await ask<Backup>('POST', '/backup', {
      body: { source: rows[0]?.path, destination: rows[0]?.destination, options: { dry_run: true } },
    });
    setId(started);
  });
  return {
    job,
    isBusy: start.isBusy || (id !== undefined && job === undefined && asked.problem === undefined),
    problem: start.problem ?? asked.problem,
    run: start.run,
    forget: () => {
      setId(undefined);
      setJob(undefined);
    },
  };
}
