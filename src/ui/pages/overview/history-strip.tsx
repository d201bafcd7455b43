/** The last runs of a source as small bars, each a link to its job. */
import type { JSX } from 'preact';
import type { Run } from '../../../api/schemas/page/overview.ts';
import { formatBytes, formatCount, formatTime } from '../../language/format.ts';
import { t } from '../../language/language.ts';
import { hrefOf } from '../../parts/route.ts';
import { barHeight, type Outcome, outcomeOf } from './figures.ts';
import { Strip } from './strip.tsx';

export function HistoryStrip({
  runs,
  label,
}: {
  /** Runs, the oldest first. */
  readonly runs: readonly Run[];
  readonly label: string;
}): JSX.Element {
  if (runs.length === 0) return <span class="quiet">{t.overview.history.none}</span>;
  const most = Math.max(...runs.map(({ bytes_uploaded: bytes }) => bytes));
  const items = runs.map((run) => ({
    key: run.id,
    href: hrefOf(['jobs', run.id]),
    said: saidOf(run),
    className: `run ${outcomeOf(run)}`,
    drawn: (
      <svg width="7" height="28" viewBox="0 0 7 28" aria-hidden="true" focusable="false">
        <Bar run={run} most={most} />
      </svg>
    ),
  }));
  return (
    <div class="history">
      <Strip className="strip" label={label} items={items} />
      <small>{summaryOf(runs)}</small>
    </div>
  );
}

/** Failures are recognisable by shape as well as by colour: a cross instead of a bar, a bar with a gap for warnings. */
function Bar({ run, most }: { readonly run: Run; readonly most: number }): JSX.Element {
  const outcome = outcomeOf(run);
  if (outcome === 'failed') return <path class="mark" d="M1 10l5 8M6 10l-5 8" />;
  const height = Math.round((barHeight(run.bytes_uploaded, most) / 100) * 26);
  if (outcome !== 'warning') return <rect x="0.5" width="6" y={27 - height} height={height} rx="1.5" />;
  return (
    <>
      <rect x="0.5" width="6" y={27 - height} height={Math.max(1, height - 6)} rx="1.5" />
      <rect x="0.5" width="6" y="23" height="4" rx="1.5" />
    </>
  );
}

function saidOf(run: Run): string {
  return t.overview.history.run(
    run.finished_at === null ? t.common.now : formatTime(run.finished_at),
    t.overview.outcomes[outcomeOf(run)],
    formatCount(run.files_changed),
    formatBytes(run.bytes_uploaded),
  );
}

function summaryOf(runs: readonly Run[]): string {
  const count = (outcome: Outcome): number => runs.filter((run) => outcomeOf(run) === outcome).length;
  return t.overview.history.summary(
    runs.length,
    count('completed'),
    count('warning'),
    count('failed'),
    count('canceled'),
  );
}
