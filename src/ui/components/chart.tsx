/** Charts as shapes in the document: they need no JavaScript, take the colours of the page, and can be read out. */
import type { JSX } from 'preact';

export interface Point {
  /** Milliseconds since 1970. */
  readonly at: number;
  readonly value: number;
  /** The part on top of a bar, in another colour. */
  readonly bad?: number;
}

export interface ChartFacts {
  readonly points: readonly Point[];
  /** A description for screen readers. The same figures are in a table or sentence beside the chart. */
  readonly label: string;
  readonly unit: 'bytes' | 'count';
  readonly shownValue: (value: number) => string;
  readonly shownTime: (at: number) => string;
}

/** The size of a chart, in the pixels of its text. */
interface Field {
  readonly name: 'wide' | 'narrow';
  readonly width: number;
  readonly height: number;
  /** Where the curve begins, after the figures of the axis. */
  readonly left: number;
}

/**
 * Each chart is drawn in both sizes, and the width of the page decides which is visible: text keeps its size, and
 * nothing scrolls sideways.
 */
const FIELDS: readonly Field[] = [
  { name: 'wide', width: 860, height: 220, left: 84 },
  { name: 'narrow', width: 340, height: 200, left: 72 },
];
const BOTTOM = 26;
const TOP = 10;
const LINES = 4;

/** A value over time. The distance between points is proportional to time. */
export function AreaChart(facts: ChartFacts): JSX.Element {
  const { points } = facts;
  const first = points[0]?.at ?? 0;
  const span = Math.max(1, (points.at(-1)?.at ?? 0) - first);
  return (
    <Frames
      {...facts}
      drawn={(field, top) => {
        const { left, width } = field;
        const corners = points.map(
          ({ at, value }) =>
            `${round(left + ((at - first) / span) * (width - left))},${y(field, value, top)}`,
        );
        const last = points.length === 1 ? `${width},${y(field, points[0]?.value ?? 0, top)}` : '';
        const curve = [...corners, last].join(' ').trim();
        const ground = y(field, 0, top);
        return (
          <>
            <polygon class="area" points={`${curve} ${width},${ground} ${left},${ground}`} />
            <polyline class="curve" points={curve} />
          </>
        );
      }}
    />
  );
}

/** A number for each day or run. `shownBar` is the text for a bar under the pointer. */
export function BarChart(facts: ChartFacts & { readonly shownBar: (point: Point) => string }): JSX.Element {
  const { points, shownBar } = facts;
  return (
    <Frames
      {...facts}
      drawn={(field, top) => {
        const step = (field.width - field.left) / Math.max(1, points.length);
        return points.map((point, index) => {
          const { value, bad = 0 } = point;
          const place = { x: round(field.left + index * step + step * 0.15), width: round(step * 0.7) };
          return (
            <g key={point.at}>
              <title>{shownBar(point)}</title>
              <rect class="bar-good" {...place} y={y(field, value, top)} height={height(field, value, top)} />
              <rect
                class="bar-bad"
                {...place}
                y={y(field, value + bad, top)}
                height={height(field, bad, top)}
              />
            </g>
          );
        });
      }}
    />
  );
}

function Frames({
  points,
  label,
  shownValue,
  shownTime,
  unit,
  drawn,
}: ChartFacts & {
  readonly drawn: (field: Field, top: number) => JSX.Element | readonly JSX.Element[];
}): JSX.Element {
  const top = topOf(points, unit);
  const lines = Array.from({ length: LINES + 1 }, (_, index) => (top * index) / LINES);
  const middle = points[Math.floor((points.length - 1) / 2)];
  return (
    <>
      {FIELDS.map((field) => {
        const { name, left, width } = field;
        const mark = (
          point: Point | undefined,
          anchor: 'start' | 'middle' | 'end',
          x: number,
        ): JSX.Element | null =>
          point === undefined ? null : (
            <text x={x} y={field.height - 6} text-anchor={anchor}>
              {shownTime(point.at)}
            </text>
          );
        return (
          <svg
            key={name}
            class={`chart ${name}`}
            viewBox={`0 0 ${width} ${field.height}`}
            role="img"
            aria-label={label}
          >
            {lines.map((value) => (
              <g key={value}>
                <line class="grid" x1={left} x2={width} y1={y(field, value, top)} y2={y(field, value, top)} />
                <text x={left - 10} y={y(field, value, top) + 4} text-anchor="end">
                  {shownValue(value)}
                </text>
              </g>
            ))}
            {mark(points[0], 'start', left)}
            {points.length > 2 && name === 'wide' ? mark(middle, 'middle', left + (width - left) / 2) : null}
            {points.length > 1 ? mark(points.at(-1), 'end', width) : null}
            {drawn(field, top)}
          </svg>
        );
      })}
    </>
  );
}

function topOf(points: readonly Point[], unit: ChartFacts['unit']): number {
  const most = Math.max(0, ...points.map(({ value, bad = 0 }) => value + bad));
  return unit === 'bytes' ? niceBytes(most) : niceCount(most);
}

function y(field: Field, value: number, top: number): number {
  return round(field.height - BOTTOM - height(field, value, top));
}

function height(field: Field, value: number, top: number): number {
  return round((value / top) * (field.height - BOTTOM - TOP));
}

function round(value: number): number {
  return Math.round(value * 10) / 10;
}

/** The top of a scale of whole numbers on which each line is a whole number, too: 4, 8, 20, 40, 80, 200 … */
function niceCount(most: number): number {
  for (let unit = 1; ; unit *= 10)
    for (const factor of [1, 2, 5]) if (factor * unit * LINES >= most) return factor * unit * LINES;
}

/** The same in powers of two, as sizes are shown. */
function niceBytes(most: number): number {
  let unit = 1_024;
  while (unit * LINES < most) unit *= 2;
  return unit * LINES;
}
