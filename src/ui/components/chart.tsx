/** Charts as shapes in the document: they need no script, take the colours of the page, and are read out. */
import type { JSX } from 'preact';

export interface Point {
  /** Milliseconds since 1970. */
  readonly at: number;
  readonly value: number;
  /** Above it, in another colour; of bars. */
  readonly bad?: number;
}

export interface ChartFacts {
  readonly points: readonly Point[];
  /** What is shown, for screen readers; the same figures stand in a table or sentence beside it. */
  readonly label: string;
  readonly unit: 'bytes' | 'count';
  readonly shownValue: (value: number) => string;
  readonly shownTime: (at: number) => string;
}

const WIDTH = 860;
const HEIGHT = 220;
const LEFT = 84;
const BOTTOM = 26;
const TOP = 10;
const LINES = 4;

/** A value over time; the distance of the points is that of their times. */
export function AreaChart(facts: ChartFacts): JSX.Element {
  const { points } = facts;
  const top = topOf(facts);
  const first = points[0]?.at ?? 0;
  const span = Math.max(1, (points.at(-1)?.at ?? 0) - first);
  const corners = points.map(
    ({ at, value }) => `${round(LEFT + ((at - first) / span) * (WIDTH - LEFT))},${y(value, top)}`,
  );
  const last = points.length === 1 ? `${WIDTH},${y(points[0]?.value ?? 0, top)}` : '';
  const curve = [...corners, last].join(' ').trim();
  return (
    <Frame {...facts} top={top}>
      <polygon class="area" points={`${curve} ${WIDTH},${y(0, top)} ${LEFT},${y(0, top)}`} />
      <polyline class="curve" points={curve} />
    </Frame>
  );
}

/** A number for each day or run. `shownBar` is said of one that is pointed at. */
export function BarChart(facts: ChartFacts & { readonly shownBar: (point: Point) => string }): JSX.Element {
  const { points, shownBar } = facts;
  const top = topOf(facts);
  const step = (WIDTH - LEFT) / Math.max(1, points.length);
  return (
    <Frame {...facts} top={top}>
      {points.map((point, index) => {
        const { value, bad = 0 } = point;
        const place = { x: round(LEFT + index * step + step * 0.15), width: round(step * 0.7) };
        return (
          <g key={point.at}>
            <title>{shownBar(point)}</title>
            <rect class="bar-good" {...place} y={y(value, top)} height={height(value, top)} />
            <rect class="bar-bad" {...place} y={y(value + bad, top)} height={height(bad, top)} />
          </g>
        );
      })}
    </Frame>
  );
}

function Frame({
  points,
  label,
  shownValue,
  shownTime,
  top,
  children,
}: ChartFacts & {
  readonly top: number;
  readonly children: JSX.Element | readonly JSX.Element[];
}): JSX.Element {
  const lines = Array.from({ length: LINES + 1 }, (_, index) => (top * index) / LINES);
  const middle = points[Math.floor((points.length - 1) / 2)];
  return (
    <div class="scroll" role="group" aria-label={label} tabIndex={0}>
      <svg class="chart" viewBox={`0 0 ${WIDTH} ${HEIGHT}`} role="img" aria-label={label}>
        {lines.map((value) => (
          <g key={value}>
            <line class="grid" x1={LEFT} x2={WIDTH} y1={y(value, top)} y2={y(value, top)} />
            <text x={LEFT - 10} y={y(value, top) + 4} text-anchor="end">
              {shownValue(value)}
            </text>
          </g>
        ))}
        {mark(points[0], 'start', LEFT, shownTime)}
        {points.length > 2 ? mark(middle, 'middle', LEFT + (WIDTH - LEFT) / 2, shownTime) : null}
        {points.length > 1 ? mark(points.at(-1), 'end', WIDTH, shownTime) : null}
        {children}
      </svg>
    </div>
  );
}

function mark(
  point: Point | undefined,
  anchor: 'start' | 'middle' | 'end',
  x: number,
  shownTime: (at: number) => string,
): JSX.Element | null {
  if (point === undefined) return null;
  return (
    <text x={x} y={HEIGHT - 6} text-anchor={anchor}>
      {shownTime(point.at)}
    </text>
  );
}

function topOf({ points, unit }: ChartFacts): number {
  const most = Math.max(0, ...points.map(({ value, bad = 0 }) => value + bad));
  return unit === 'bytes' ? niceBytes(most) : niceCount(most);
}

function y(value: number, top: number): number {
  return round(HEIGHT - BOTTOM - height(value, top));
}

function height(value: number, top: number): number {
  return round((value / top) * (HEIGHT - BOTTOM - TOP));
}

function round(value: number): number {
  return Math.round(value * 10) / 10;
}

/** The top of a scale of whole numbers, of which each line is one too: 4, 8, 20, 40, 80, 200 … */
function niceCount(most: number): number {
  for (let unit = 1; ; unit *= 10)
    for (const factor of [1, 2, 5]) if (factor * unit * LINES >= most) return factor * unit * LINES;
}

/** As that, in powers of two, as sizes are shown. */
function niceBytes(most: number): number {
  let unit = 1_024;
  while (unit * LINES < most) unit *= 2;
  return unit * LINES;
}
