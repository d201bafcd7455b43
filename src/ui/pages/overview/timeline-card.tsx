/** The last six weeks, a column a day: backups and what they stored, restore drills, alarms. */
import type { JSX } from 'preact';
import type { OverviewDay } from '../../../api/schemas/page/overview.ts';
import { useOverview } from '../../agent/overview.ts';
import { Card } from '../../components/card.tsx';
import { formatBytes, formatCount, formatDay } from '../../language/format.ts';
import { t } from '../../language/language.ts';
import { hrefOf } from '../../parts/route.ts';
import { barHeight, dayOutcome, stretchOf } from './figures.ts';
import { Strip, type StripItem } from './strip.tsx';

export function TimelineCard(): JSX.Element | null {
  const { days } = useOverview();
  if (days.every((day) => dayOutcome(day) === 'none' && day.drills === 0)) return null;
  const texts = t.overview.timeline;
  const most = Math.max(...days.map(({ bytes_stored: bytes }) => bytes));
  const first = days[0];
  return (
    <Card title={texts.title} className="weeks">
      <p class="quiet">{summaryOf(days)}</p>
      <Strip className="week-days" label={texts.title} items={days.map((day) => itemOf(day, most))} />
      <p class="days-ends quiet small-text" aria-hidden="true">
        <span>{first === undefined ? '' : formatDay(first.at)}</span>
        <span>{texts.today}</span>
      </p>
      <p class="legend small-text">
        <span>
          <Mark className="completed" /> {texts.backup}
        </span>
        <span>
          <Mark className="warning" /> {texts.incomplete}
        </span>
        <span>
          <Mark className="failed" /> {texts.failed}
        </span>
        <span>
          <Sign kind="drill" /> {texts.drill}
        </span>
        <span>
          <Sign kind="alarm" /> {texts.alarm}
        </span>
        <a href={hrefOf(['jobs'])}>{t.overview.allJobs}</a>
      </p>
    </Card>
  );
}

function itemOf(day: OverviewDay, most: number): StripItem {
  const outcome = dayOutcome(day);
  const height = outcome === 'none' ? 0 : Math.round((barHeight(day.bytes_stored, most) / 100) * 56);
  return {
    key: day.at,
    href: day.failed > 0 ? hrefOf(['jobs'], { status: 'failed' }) : hrefOf(['jobs']),
    said: saidOf(day),
    className: `day ${outcome}`,
    drawn: (
      <>
        <Sign kind={day.alarms > 0 ? 'alarm' : undefined} />
        <svg
          class="column"
          viewBox="0 0 10 56"
          preserveAspectRatio="none"
          aria-hidden="true"
          focusable="false"
        >
          <rect width="10" y={56 - height} height={height} />
        </svg>
        <Sign kind={day.drills_failed > 0 ? 'drill-failed' : day.drills > 0 ? 'drill' : undefined} />
      </>
    ),
  };
}

type Kind = 'alarm' | 'drill' | 'drill-failed';

/** Signs differ in shape as well as in colour: a triangle, a tick, a cross. */
const SHAPES: Readonly<Record<Kind, string>> = {
  alarm: 'M7 2l5 9H2z',
  drill: 'M3 7l3 3 5-6',
  'drill-failed': 'M4 4l6 6M10 4l-6 6',
};

/** Takes the same room when there is nothing to show. */
function Sign({ kind }: { readonly kind: Kind | undefined }): JSX.Element {
  return (
    <svg class="day-sign" width="14" height="14" viewBox="0 0 14 14" aria-hidden="true" focusable="false">
      {kind === undefined ? null : <path class={`sign ${kind}`} d={SHAPES[kind]} />}
    </svg>
  );
}

function Mark({ className }: { readonly className: string }): JSX.Element {
  return <span class={`legend-mark ${className}`} aria-hidden="true" />;
}

function saidOf(day: OverviewDay): string {
  const texts = t.overview.timeline;
  const parts = [
    day.backups > 0
      ? texts.backups(day.backups, formatCount(day.backups), formatBytes(day.bytes_stored))
      : '',
    day.incomplete > 0 ? texts.ofThemIncomplete(day.incomplete) : '',
    day.failed > 0 ? texts.ofThemFailed(day.failed) : '',
    day.drills > 0 ? texts.drilled : '',
    day.drills_failed > 0 ? texts.drillFailed : '',
    day.alarms > 0 ? texts.alarmed : '',
  ].filter((part) => part !== '');
  return `${formatDay(day.at)}${t.common.colon} ${parts.length === 0 ? texts.nothing : parts.join(', ')}`;
}

function summaryOf(days: readonly OverviewDay[]): string {
  const { backups, failed, bytes } = stretchOf(days);
  const texts = t.overview.timeline;
  return `${texts.summary(backups, formatCount(backups), formatBytes(bytes))}${failed === 0 ? '' : ` ${texts.summaryFailed(failed)}`}`;
}
