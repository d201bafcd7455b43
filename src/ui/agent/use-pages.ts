/** Fetches a list page by page, as far as the user looks at it. */
import { useEffect, useRef, useState } from 'preact/hooks';
import type { AskError } from './ask.ts';
import { asAskError } from './use-asked.ts';

export interface FetchedPage<Item> {
  readonly items: readonly Item[];
  readonly next_cursor: string | null;
  /** Number of directories that could not be read, whose content the list may lack. */
  readonly unreadable_directories?: number;
}

export interface PageRequest {
  readonly cursor: string | undefined;
  readonly limit: number;
  readonly signal: AbortSignal;
}

export interface Pages<Item> {
  /** Items from the first one on. The previous list stays until the first page of a new one has arrived. */
  readonly items: readonly Item[];
  readonly hasMore: boolean;
  /** The list lacks the content of directories that could not be read. */
  readonly isPart: boolean;
  /** The key of the list that `items` belong to. */
  readonly key: string | undefined;
  readonly problem: AskError | undefined;
  readonly isBusy: boolean;
  /** Fetches until the item with this index has arrived, or the list ends. */
  readonly want: (index: number) => void;
  /** Fetches as much as was wanted once more. The list stays until all of that has arrived. */
  readonly again: () => void;
}

/** The first page is small, so that it appears at once. */
const FIRST = 100;

type Known<Item> = Omit<Pages<Item>, 'want' | 'again'>;

/**
 * `key` identifies the list: with another key, fetching starts again. Undefined: there is no list yet.
 * @param later items of all pages but the first
 */
export function usePages<Item>(
  key: string | undefined,
  fetchPage: (request: PageRequest) => Promise<FetchedPage<Item>>,
  later = 1_000,
  first = FIRST,
): Pages<Item> {
  const [known, setKnown] = useState<Known<Item>>({
    items: [],
    hasMore: false,
    isPart: false,
    key: undefined,
    problem: undefined,
    isBusy: true,
  });
  const [round, setRound] = useState(0);
  const latest = useRef(fetchPage);
  latest.current = fetchPage;
  /** Index of the last item that is wanted, and how to wake the run that fetches items. */
  const wanted = useRef(0);
  const wake = useRef<() => void>(() => undefined);
  /** The list that was started last. */
  const begun = useRef<string | undefined>(undefined);

  useEffect(() => {
    if (key === undefined) return undefined;
    const controller = new AbortController();
    const { signal } = controller;
    const isSame = begun.current === key;
    if (!isSame) wanted.current = 0;
    begun.current = key;
    setKnown((before) => ({ ...before, isBusy: true, problem: undefined }));
    const run = async (): Promise<void> => {
      let items: readonly Item[] = [];
      let cursor: string | null | undefined;
      let isPart = false;
      while (cursor !== null) {
        const page = await latest.current({
          cursor,
          limit: cursor === undefined ? first : later,
          signal,
        });
        if (signal.aborted) return;
        items = items.concat(page.items);
        cursor = page.next_cursor;
        isPart ||= (page.unreadable_directories ?? 0) > 0;
        const hasMore = cursor !== null;
        const isBusy = hasMore && wanted.current >= items.length;
        if (!isSame || !isBusy) setKnown({ items, hasMore, isPart, key, problem: undefined, isBusy });
        if (!hasMore) return;
        while (wanted.current < items.length) {
          await new Promise<void>((resolve) => (wake.current = resolve));
          if (signal.aborted) return;
        }
      }
    };
    const guarded = async (): Promise<void> => {
      try {
        await run();
      } catch (error) {
        if (signal.aborted) return;
        setKnown((before) => ({ ...before, problem: asAskError(error), isBusy: false }));
      }
    };
    void guarded();
    return () => {
      controller.abort();
      wake.current();
    };
  }, [key, round]);

  return {
    ...known,
    want: (index) => {
      if (index <= wanted.current) return;
      wanted.current = index;
      wake.current();
    },
    again: () => setRound((before) => before + 1),
  };
}
