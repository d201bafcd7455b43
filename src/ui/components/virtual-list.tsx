/** A list of any length, of which only the rows that can be seen are in the document. All rows have one height. */
import type { ComponentChildren, JSX } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';

/** Rows above and below those that can be seen. */
const SPARE = 8;
/** Browsers draw no element taller than that; longer lists are scrolled in larger steps. Pixels. */
const TALLEST = 16_000_000;

export interface VirtualListFacts {
  readonly count: number;
  /** Pixels of one row. */
  readonly rowHeight: number;
  readonly label: string;
  readonly row: (index: number) => ComponentChildren;
  /** Told which rows can be seen, so that they can be fetched. */
  readonly onShown?: (first: number, last: number) => void;
  /** The row that the keyboard is at; it is kept in sight. */
  readonly current?: number;
}

export function VirtualList({
  count,
  rowHeight,
  label,
  row,
  onShown,
  current,
}: VirtualListFacts): JSX.Element {
  const box = useRef<HTMLDivElement>(null);
  const [top, setTop] = useState(0);
  const [height, setHeight] = useState(600);
  const whole = count * rowHeight;
  const shown = Math.min(whole, TALLEST);
  const scale = whole > shown ? (whole - height) / Math.max(1, shown - height) : 1;
  const offset = top * scale;
  const first = Math.max(0, Math.floor(offset / rowHeight) - SPARE);
  const last = Math.min(count, Math.ceil((offset + height) / rowHeight) + SPARE);

  useEffect(() => {
    const element = box.current;
    if (element === null) return undefined;
    const observer = new ResizeObserver(() => setHeight(element.clientHeight));
    observer.observe(element);
    return () => observer.disconnect();
  }, []);
  useEffect(() => onShown?.(first, last), [first, last, count]);
  useEffect(() => {
    const element = box.current;
    if (element === null || current === undefined) return;
    const above = current * rowHeight - offset;
    if (above < 0) element.scrollTop = (current * rowHeight) / scale;
    else if (above + rowHeight > height) element.scrollTop = ((current + 1) * rowHeight - height) / scale;
  }, [current]);

  return (
    <div
      class="virtual"
      ref={box}
      role="list"
      aria-label={label}
      tabIndex={0}
      onScroll={({ currentTarget }) => setTop(currentTarget.scrollTop)}
    >
      <div class="virtual-space" style={{ height: `${shown}px` }}>
        <div style={{ transform: `translateY(${Math.round(first * rowHeight - offset + top)}px)` }}>
          {Array.from({ length: Math.max(0, last - first) }, (_, index) => (
            <div
              key={first + index}
              role="listitem"
              aria-setsize={count}
              aria-posinset={first + index + 1}
              style={{ height: `${rowHeight}px` }}
              class="virtual-row"
            >
              {row(first + index)}
            </div>
          ))}
        </div>
      </div>
    </div>
  );
}
