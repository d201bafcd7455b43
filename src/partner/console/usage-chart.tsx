/** Charts by day. The table below them has the same figures. */
import type { JSX } from 'preact';
import { formatBytes } from '../../base/units.ts';
import { AreaChart, BarChart, type Point } from '../../ui/components/chart.tsx';
import { shownCount, shownDay } from './shown.tsx';

export interface DayValue {
  readonly day: string;
  readonly value: number;
  /** Drawn on top of `value`, in another colour. */
  readonly bad?: number;
}

export function areaChart(values: readonly DayValue[], title: string): JSX.Element {
  return (
    <AreaChart
      points={values.map(pointOf)}
      label={title}
      unit="bytes"
      shownValue={formatBytes}
      shownTime={dayAt}
    />
  );
}

export function barChart(values: readonly DayValue[], title: string): JSX.Element {
  return (
    <BarChart
      points={values.map(pointOf)}
      label={title}
      unit="count"
      shownValue={shownCount}
      shownTime={dayAt}
      shownBar={({ at, value, bad = 0 }) =>
        `${dayAt(at)}: ${shownCount(value)} completed, ${shownCount(bad)} failed`
      }
    />
  );
}

function pointOf({ day, ...value }: DayValue): Point {
  return { at: Date.parse(day), ...value };
}

function dayAt(at: number): string {
  return shownDay(new Date(at).toISOString().slice(0, 10));
}
