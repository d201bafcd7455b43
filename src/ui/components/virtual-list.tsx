/** A list of any length, of which only the visible rows are in the document. All rows have the same height. */
import type { ComponentChildren, HTMLAttributes, JSX } from 'preact';
import { useEffect, useId, useRef, useState } from 'preact/hooks';

/** Pixels of the row of titles above a grid. */
const HEAD_HEIGHT = 44;
/** Spare rows above and below the visible ones. */
const SPARE = 8;
/** Pixels. Browsers draw no taller element, so longer lists are scrolled in larger steps. */
const TALLEST = 16_000_000;

export interface VirtualListFacts {
  readonly count: number;
  /** Pixels of one row. */
  readonly rowHeight: number;
  readonly label: string;
  readonly row: (index: number) => ComponentChildren;
  /** Called with the visible rows, so that they can be fetched. */
  readonly onShown?: (first: number, last: number) => void;
  /** The row with the keyboard focus; it is kept in view. */
  readonly current?: number;
  /** Identifies the list: another one is shown from its `current` on. */
  readonly listKey?: string;
  /** For a list whose rows have cells (`role="gridcell"`). */
  readonly grid?: VirtualGridFacts;
}

export interface VirtualGridFacts {
  /** A row of `role="columnheader"`s, which stays in view. */
  readonly head: ComponentChildren;
  readonly isSelected: (index: number) => boolean;
  /** Called for keys that the grid does not handle: it handles arrows, Page, Home and End. Returns true if it did something. */
  readonly onKey: (key: string) => boolean;
  readonly onCurrent: (index: number) => void;
}

export function VirtualList(facts: VirtualListFacts): JSX.Element {
  const { count, rowHeight, label, row, onShown, current, listKey, grid } = facts;
  const box = useRef<HTMLDivElement>(null);
  const name = useId();
  const [top, setTop] = useState(0);
  const [boxHeight, setBoxHeight] = useState(600);
  const head = grid === undefined ? 0 : HEAD_HEIGHT;
  const height = Math.max(rowHeight, boxHeight - head);
  const whole = count * rowHeight;
  const shown = Math.min(whole, TALLEST);
  const scale = whole > shown ? (whole - height) / Math.max(1, shown - height) : 1;
  const offset = top * scale;
  const first = Math.max(0, Math.min(count, Math.floor(offset / rowHeight) - SPARE));
  const last = Math.min(count, Math.ceil((offset + height) / rowHeight) + SPARE);

  useEffect(() => {
    const element = box.current;
    if (element === null) return undefined;
    const observer = new ResizeObserver(() => setBoxHeight(element.clientHeight));
    observer.observe(element);
    return () => observer.disconnect();
  }, []);
  useEffect(() => onShown?.(first, last), [first, last, count]);
  useEffect(() => {
    const element = box.current;
    if (element === null || current === undefined) return;
    const above = current * rowHeight - element.scrollTop * scale;
    if (above < 0) element.scrollTop = (current * rowHeight) / scale;
    else if (above + rowHeight > height) element.scrollTop = ((current + 1) * rowHeight - height) / scale;
    setTop(element.scrollTop);
  }, [current, listKey]);

  const atCurrent = current !== undefined && current >= first && current < last;
  const rows = Array.from({ length: Math.max(0, last - first) }, (_, index) => first + index);
  return (
    <div
      class="virtual"
      ref={box}
      role={grid === undefined ? 'list' : 'grid'}
      aria-label={label}
      tabIndex={0}
      style={{ height: `${shown + head + 2}px` }}
      onScroll={({ currentTarget }) => setTop(currentTarget.scrollTop)}
      {...(grid === undefined
        ? {}
        : {
            ...gridHandlers(facts, grid, Math.max(1, Math.floor(height / rowHeight) - 1)),
            'aria-rowcount': count + 1,
            'aria-multiselectable': true,
            'aria-activedescendant': atCurrent ? `${name}-${current}` : undefined,
          })}
    >
      {grid === undefined ? null : (
        <div class="virtual-head" role="row" aria-rowindex={1} style={{ height: `${HEAD_HEIGHT}px` }}>
          {grid.head}
        </div>
      )}
      <div class="virtual-space" role="presentation" style={{ height: `${shown}px` }}>
        <div
          role="presentation"
          style={{ transform: `translateY(${Math.round(first * rowHeight - offset + top)}px)` }}
        >
          {rows.map((index) => (
            <div
              key={index}
              id={`${name}-${index}`}
              {...(grid === undefined
                ? { role: 'listitem' as const, 'aria-setsize': count, 'aria-posinset': index + 1 }
                : {
                    role: 'row' as const,
                    'aria-rowindex': index + 2,
                    'aria-selected': grid.isSelected(index),
                  })}
              data-index={index}
              style={{ height: `${rowHeight}px` }}
              class={index === current ? 'virtual-row current' : 'virtual-row'}
            >
              {row(index)}
            </div>
          ))}
        </div>
      </div>
    </div>
  );
}

function gridHandlers(
  { count, current = 0 }: VirtualListFacts,
  { onKey, onCurrent }: VirtualGridFacts,
  rowsInSight: number,
): Pick<HTMLAttributes<HTMLDivElement>, 'onKeyDown' | 'onMouseDown'> {
  const moves: Readonly<Record<string, number>> = {
    ArrowDown: current + 1,
    ArrowUp: current - 1,
    PageDown: current + rowsInSight,
    PageUp: current - rowsInSight,
    Home: 0,
    End: count - 1,
  };
  return {
    onKeyDown: (event) => {
      if (event.ctrlKey || event.metaKey || event.altKey) return;
      // Keys on buttons of the head keep their usual meaning.
      if (event.target instanceof Element && event.target.closest('button') !== null) return;
      const to = moves[event.key];
      if (to !== undefined) onCurrent(Math.max(0, Math.min(count - 1, to)));
      else if (!onKey(event.key)) return;
      event.preventDefault();
    },
    onMouseDown: (event) => {
      const at = event.target instanceof Element ? event.target.closest('[data-index]') : null;
      const index = at?.getAttribute('data-index');
      if (index === null || index === undefined) return;
      onCurrent(Number(index));
      // The grid keeps the focus: on a part of a row it would be lost when that row goes.
      if (event.button === 0) {
        event.preventDefault();
        event.currentTarget.focus({ preventScroll: true });
      }
    },
  };
}
