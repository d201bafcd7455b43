/** Charts of days, drawn here: an image of a few shapes, which needs no script. The table below has the same figures. */
import { formatBytes } from '../../base/units.ts';
import { html, type Markup } from './markup.ts';
import { shownCount, shownDay } from './shown.ts';

export interface DayValue {
  readonly day: string;
  readonly value: number;
  /** Above it, in another colour. */
  readonly bad?: number;
}

const WIDTH = 860;
const HEIGHT = 220;
const LEFT = 84;
const BOTTOM = 26;
const TOP = 10;
const LINES = 4;

export function areaChart(values: readonly DayValue[], title: string): Markup {
  const top = niceBytes(Math.max(0, ...values.map(({ value }) => value)));
  const step = (WIDTH - LEFT) / Math.max(1, values.length - 1);
  const points = values.map(({ value }, index) => `${round(LEFT + index * step)},${y(value, top)}`);
  const ends = `${WIDTH},${y(0, top)} ${LEFT},${y(0, top)}`;
  return chart(
    title,
    html`${grid(top, formatBytes)}${days(values)}
      <polygon class="area" points="${points.join(' ')} ${ends}" /><polyline
        class="curve"
        points="${points.join(' ')}"
      />`,
  );
}

export function barChart(values: readonly DayValue[], title: string): Markup {
  const top = niceCount(Math.max(0, ...values.map(({ value, bad = 0 }) => value + bad)));
  const step = (WIDTH - LEFT) / values.length;
  const bars = values.map(({ day, value, bad = 0 }, index) => {
    const x = round(LEFT + index * step + step * 0.15);
    const width = round(step * 0.7);
    return html`<g
      ><title>${shownDay(day)}: ${shownCount(value)} completed, ${shownCount(bad)} failed</title>
      <rect class="bar-good" x="${x}" width="${width}" y="${y(value, top)}" height="${height(value, top)}" />
      <rect class="bar-bad" x="${x}" width="${width}" y="${y(value + bad, top)}" height="${height(bad, top)}"
    /></g>`;
  });
  return chart(title, html`${grid(top, shownCount)}${days(values)}${bars}`);
}

function chart(title: string, content: Markup): Markup {
  return html`<div class="scroll">
    <svg class="chart" viewBox="0 0 ${WIDTH} ${HEIGHT}" role="img" aria-label="${title}">${content}</svg>
  </div>`;
}

function grid(top: number, shown: (value: number) => string): readonly Markup[] {
  return Array.from({ length: LINES + 1 }, (_, index) => {
    const value = (top * index) / LINES;
    const at = y(value, top);
    return html`<line class="grid" x1="${LEFT}" x2="${WIDTH}" y1="${at}" y2="${at}" />
      <text x="${LEFT - 10}" y="${at + 4}" text-anchor="end">${shown(value)}</text>`;
  });
}

/** The first day, the last one, and one in between. */
function days(values: readonly DayValue[]): readonly Markup[] {
  const places = [
    [0, 'start', LEFT],
    [Math.floor((values.length - 1) / 2), 'middle', LEFT + (WIDTH - LEFT) / 2],
    [values.length - 1, 'end', WIDTH],
  ] as const;
  return places.map(
    ([index, anchor, x]) =>
      html`<text x="${x}" y="${HEIGHT - 6}" text-anchor="${anchor}"
        >${shownDay(values[index]?.day ?? '')}</text
      >`,
  );
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
  let unit = 1;
  for (;;) {
    for (const factor of [1, 2, 5]) if (factor * unit * LINES >= most) return factor * unit * LINES;
    unit *= 10;
  }
}

/** As that, in powers of two, as sizes are shown. */
function niceBytes(most: number): number {
  let unit = 1_024;
  while (unit * LINES < most) unit *= 2;
  return unit * LINES;
}
