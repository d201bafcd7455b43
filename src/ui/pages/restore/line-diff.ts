/** Compares two texts line by line by the shortest edit script (Myers), unless they differ too much. */

export interface DiffRow {
  readonly kind: 'same' | 'changed';
  /** Line numbers from 1; undefined if this side has no line. */
  readonly oldNumber: number | undefined;
  readonly newNumber: number | undefined;
  readonly oldLine: string | undefined;
  readonly newLine: string | undefined;
}

export interface LineDiff {
  readonly rows: readonly DiffRow[];
  readonly removed: number;
  readonly added: number;
  /** The texts differ so much that the part between common ends was not compared line by line. */
  readonly isRough: boolean;
}

/** The most added and removed lines together that are searched for: the memory grows with the square (16 MB). */
const MOST_STEPS = 2_000;

type Step = 'same' | 'removed' | 'added';

export function diffLines(oldText: string, newText: string, mostSteps = MOST_STEPS): LineDiff {
  const oldLines = linesOf(oldText);
  const newLines = linesOf(newText);
  const before = commonStart(oldLines, newLines);
  const behind = commonEnd(oldLines, newLines, before);
  const oldMiddle = oldLines.slice(before, oldLines.length - behind);
  const newMiddle = newLines.slice(before, newLines.length - behind);
  const found = shortestWay(oldMiddle, newMiddle, mostSteps);
  const middle = found ?? [...oldMiddle.map((): Step => 'removed'), ...newMiddle.map((): Step => 'added')];
  const steps = [...repeated('same', before), ...middle, ...repeated('same', behind)];
  return {
    rows: rowsOf(steps, oldLines, newLines),
    removed: middle.filter((step) => step === 'removed').length,
    added: middle.filter((step) => step === 'added').length,
    isRough: found === undefined,
  };
}

/** The lines of a text. A line break at the end ends the last line, and does not begin another. */
export function linesOf(text: string): readonly string[] {
  if (text === '') return [];
  const lines = text.split('\n');
  if (lines.at(-1) === '') lines.pop();
  return lines;
}

export type ShownRow = DiffRow | { readonly kind: 'skipped'; readonly count: number };

/** Only changed rows and `context` lines around them; at most `most` rows. `isCut` says whether that cut any off. */
export function shortened(
  rows: readonly DiffRow[],
  context: number,
  most: number,
): { readonly rows: readonly ShownRow[]; readonly isCut: boolean } {
  const near = nearChanges(rows, context);
  const shown: ShownRow[] = [];
  let skipped = 0;
  for (const [index, row] of rows.entries()) {
    if (near[index] !== 1) {
      skipped += 1;
      continue;
    }
    if (skipped > 0) shown.push({ kind: 'skipped', count: skipped });
    skipped = 0;
    if (shown.length >= most) return { rows: shown, isCut: true };
    shown.push(row);
  }
  if (skipped > 0) shown.push({ kind: 'skipped', count: skipped });
  return { rows: shown, isCut: false };
}

function nearChanges(rows: readonly DiffRow[], context: number): Uint8Array {
  const near = new Uint8Array(rows.length);
  for (const [index, row] of rows.entries())
    if (row.kind === 'changed') near.fill(1, Math.max(0, index - context), index + context + 1);
  return near;
}

function repeated(step: Step, count: number): readonly Step[] {
  return Array.from({ length: count }, () => step);
}

function commonStart(a: readonly string[], b: readonly string[]): number {
  const most = Math.min(a.length, b.length);
  let count = 0;
  while (count < most && a[count] === b[count]) count += 1;
  return count;
}

function commonEnd(a: readonly string[], b: readonly string[], before: number): number {
  const most = Math.min(a.length, b.length) - before;
  let count = 0;
  while (count < most && a[a.length - 1 - count] === b[b.length - 1 - count]) count += 1;
  return count;
}

/**
 * `furthest[k]` is the furthest line of `a` that is reached on the diagonal k (lines of `a` minus lines of `b`) in the
 * steps so far. Its state before each step is kept, to trace the way back. Undefined when more than `most` steps are
 * needed.
 */
function shortestWay(a: readonly string[], b: readonly string[], most: number): readonly Step[] | undefined {
  const limit = Math.min(most, a.length + b.length);
  const furthest = new Int32Array(2 * limit + 3);
  const middle = limit + 1;
  const history: Int32Array[] = [];
  for (let steps = 0; steps <= limit; steps += 1) {
    history.push(furthest.slice(middle - steps - 1, middle + steps + 2));
    for (let k = -steps; k <= steps; k += 2) {
      const left = furthest[middle + k - 1] ?? 0;
      const right = furthest[middle + k + 1] ?? 0;
      let x = k === -steps || (k !== steps && left < right) ? right : left + 1;
      while (x < a.length && x - k < b.length && a[x] === b[x - k]) x += 1;
      furthest[middle + k] = x;
      if (x >= a.length && x - k >= b.length) return wayBack(history, a.length, b.length);
    }
  }
  return undefined;
}

function wayBack(history: readonly Int32Array[], oldCount: number, newCount: number): readonly Step[] {
  const way: Step[] = [];
  let x = oldCount;
  let y = newCount;
  for (let steps = history.length - 1; steps >= 0; steps -= 1) {
    const furthest = history[steps] ?? new Int32Array();
    const at = (k: number): number => furthest[k + steps + 1] ?? 0;
    const k = x - y;
    const isAdded = k === -steps || (k !== steps && at(k - 1) < at(k + 1));
    const fromX = steps === 0 ? 0 : at(isAdded ? k + 1 : k - 1);
    const fromY = steps === 0 ? 0 : fromX - (isAdded ? k + 1 : k - 1);
    while (x > fromX && y > fromY) {
      way.push('same');
      x -= 1;
      y -= 1;
    }
    if (steps > 0) way.push(isAdded ? 'added' : 'removed');
    x = fromX;
    y = fromY;
  }
  return way.toReversed();
}

/** The rows of the comparison: lines removed and added in one place are side by side. */
function rowsOf(
  steps: readonly Step[],
  oldLines: readonly string[],
  newLines: readonly string[],
): readonly DiffRow[] {
  const rows: DiffRow[] = [];
  let x = 0;
  let y = 0;
  for (let at = 0; at < steps.length;) {
    if (steps[at] === 'same') {
      rows.push(rowOf('same', x, y, oldLines, newLines));
      x += 1;
      y += 1;
      at += 1;
      continue;
    }
    let removed = 0;
    let added = 0;
    for (; at < steps.length && steps[at] !== 'same'; at += 1) {
      if (steps[at] === 'removed') removed += 1;
      else added += 1;
    }
    for (let i = 0; i < Math.max(removed, added); i += 1) {
      const oldIndex = i < removed ? x + i : undefined;
      const newIndex = i < added ? y + i : undefined;
      rows.push(rowOf('changed', oldIndex, newIndex, oldLines, newLines));
    }
    x += removed;
    y += added;
  }
  return rows;
}

function rowOf(
  kind: DiffRow['kind'],
  oldIndex: number | undefined,
  newIndex: number | undefined,
  oldLines: readonly string[],
  newLines: readonly string[],
): DiffRow {
  return {
    kind,
    oldNumber: oldIndex === undefined ? undefined : oldIndex + 1,
    newNumber: newIndex === undefined ? undefined : newIndex + 1,
    oldLine: oldIndex === undefined ? undefined : oldLines[oldIndex],
    newLine: newIndex === undefined ? undefined : newLines[newIndex],
  };
}
