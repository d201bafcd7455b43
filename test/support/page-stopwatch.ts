/** Times in a page as somebody sees it: from a click or a letter until what it brings is painted. */
import type { Page } from 'playwright-core';

/** Milliseconds. */
export interface Painted {
  /** From the event on: of several, the last. */
  readonly sinceEvent: number;
  /** From the first request that the event led to; undefined when there was none. */
  readonly sinceRequest: number | undefined;
  /** Of that request alone. */
  readonly request: number | undefined;
  /** Most rows that were in the document at once. */
  readonly mostRows: number;
}

/** What is waited for: rows, each with a text, of which `q` is a part. */
export interface Awaited {
  /** Of the event: `click`, `keydown` or `input`. */
  readonly event: string;
  /** Label of the list. */
  readonly list: string;
  /** In the names of all rows that are in the document. */
  readonly text: string;
  /** Part of the address of the request. */
  readonly asked: string;
}

/** Begins before the event; the stopwatch ends when all rows that are in the list have the text. */
export async function stopwatch(page: Page, awaited: Awaited, act: () => Promise<void>): Promise<Painted> {
  const measured = await page.evaluateHandle(({ event, list, text, asked }) => {
    performance.clearResourceTimings();
    let started = 0;
    let mostRows = 0;
    const heard = ({ timeStamp }: Event): void => void (started = timeStamp);
    addEventListener(event, heard, { capture: true });
    const isThere = (): boolean => {
      const rows = [...document.querySelectorAll('[role=grid] [data-index]')];
      mostRows = Math.max(mostRows, rows.length);
      const isList = document.querySelector('[role=grid]')?.getAttribute('aria-label')?.startsWith(list);
      if (isList !== true || started === 0 || rows.length === 0) return false;
      const names = rows.map((row) => row.querySelector('a')?.textContent);
      return (
        names.every((name) => name === undefined || name.toLowerCase().includes(text)) &&
        names[0] !== undefined
      );
    };
    const painted = new Promise<number>((resolve) => {
      const looked = (): void => {
        if (!isThere()) return;
        observer.disconnect();
        requestAnimationFrame(() => {
          // What is sent in a frame arrives when it has been painted.
          const { port1, port2 } = new MessageChannel();
          port1.addEventListener('message', () => resolve(performance.now()), { once: true });
          port1.start();
          port2.postMessage('');
        });
      };
      const observer = new MutationObserver(looked);
      observer.observe(document.body, {
        subtree: true,
        childList: true,
        characterData: true,
        attributes: true,
      });
    });
    const result = painted.then((end) => {
      removeEventListener(event, heard, { capture: true });
      const requests = performance
        .getEntriesByType('resource')
        .filter((one) => one.name.includes(asked) && one.startTime >= started);
      const [first] = requests;
      return {
        sinceEvent: end - started,
        sinceRequest: first === undefined ? undefined : end - first.startTime,
        request: first?.duration,
        mostRows,
      };
    });
    return { result };
  }, awaited);
  await act();
  return await measured.evaluate(async ({ result }) => await result);
}

/** Milliseconds between the frames in which a list is scrolled a little each time. */
export async function scrolledFrames(page: Page, frames: number, pixels: number) {
  return await page.evaluate(
    async ([count = 0, step = 0]) => {
      const grid = document.querySelector('[role=grid]');
      if (grid === null) throw new Error('there is no list');
      const gaps: number[] = [];
      let [mostRows, blank] = [0, 0];
      for (let at = await nextFrame(); gaps.length < count;) {
        grid.scrollTop += step;
        const now = await nextFrame();
        gaps.push(now - at);
        at = now;
        const rows = [...grid.querySelectorAll('[data-index]')];
        mostRows = Math.max(mostRows, rows.length);
        if (!rows.some((row) => row.querySelector('a') !== null)) blank += 1;
      }
      return { gaps, mostRows, blank };
      async function nextFrame(): Promise<number> {
        return await new Promise((resolve) => requestAnimationFrame(resolve));
      }
    },
    [frames, pixels],
  );
}

export function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN;
}
