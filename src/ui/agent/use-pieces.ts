/** Fetches a list of known length in pieces, wherever in it the user looks. */
import { useEffect, useRef, useState } from 'preact/hooks';
import type { AskError } from './ask.ts';
import { asAskError } from './use-asked.ts';

export interface Piece<Item> {
  readonly items: readonly Item[];
  /** Number of items in the whole list. */
  readonly total: number;
}

export interface PieceRequest {
  readonly offset: number;
  readonly limit: number;
  readonly signal: AbortSignal;
}

export interface Pieces<Item> {
  /** The item with an index; undefined until it is fetched. */
  readonly at: (index: number) => Item | undefined;
  /** Index of the first fetched item that is meant; -1 without one. */
  readonly find: (isMeant: (item: Item) => boolean) => number;
  readonly count: number;
  /** The key of the list that the items belong to. The previous list stays until the first piece of a new one has arrived. */
  readonly key: string | undefined;
  readonly problem: AskError | undefined;
  readonly isBusy: boolean;
  /** Fetches what is missing between two indexes. Earlier requests that have not been sent yet are dropped. */
  readonly want: (first: number, last: number) => void;
  readonly again: () => void;
}

/** The first piece is small, so that it appears at once. */
const FIRST = 100;
const PIECE = 500;

interface Known<Item> {
  readonly key: string | undefined;
  readonly count: number;
  /** Pieces by the index of their first item. */
  readonly pieces: ReadonlyMap<number, readonly Item[]>;
  readonly problem: AskError | undefined;
  readonly isBusy: boolean;
}

/** `key` identifies the list: with another key, fetching starts again. Undefined: there is no list yet. */
export function usePieces<Item>(
  key: string | undefined,
  fetchPiece: (request: PieceRequest) => Promise<Piece<Item>>,
): Pieces<Item> {
  const [known, setKnown] = useState<Known<Item>>({
    key: undefined,
    count: 0,
    pieces: new Map(),
    problem: undefined,
    isBusy: true,
  });
  const [round, setRound] = useState(0);
  const latest = useRef(fetchPiece);
  latest.current = fetchPiece;
  const wanted = useRef({ first: 0, last: 0 });
  /** The list that was started last: if it is started again, the same rows are still looked at. */
  const begun = useRef<string | undefined>(undefined);
  const wake = useRef<() => void>(() => undefined);

  useEffect(() => {
    if (key === undefined) return undefined;
    const controller = new AbortController();
    const { signal } = controller;
    if (begun.current !== key) wanted.current = { first: 0, last: 0 };
    begun.current = key;
    // A problem stays until the answer, too: the next folder may have the same one.
    setKnown((before) => ({ ...before, isBusy: true }));
    const run = async (): Promise<void> => {
      let pieces: ReadonlyMap<number, readonly Item[]> = new Map();
      let count = 1;
      for (;;) {
        const offset = missing(pieces, count, wanted.current);
        if (offset === undefined) {
          setKnown((before) => (before.isBusy ? { ...before, isBusy: false } : before));
          await new Promise<void>((resolve) => (wake.current = resolve));
          if (signal.aborted) return;
          continue;
        }
        const { items, total } = await latest.current({ offset, limit: lengthAt(offset), signal });
        if (signal.aborted) return;
        pieces = new Map([...pieces, [offset, items]]);
        count = total;
        setKnown({ key, count, pieces, problem: undefined, isBusy: true });
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

  const { pieces, ...rest } = known;
  return {
    ...rest,
    at: (index) => {
      const offset = beginOf(index);
      return pieces.get(offset)?.[index - offset];
    },
    find: (isMeant) => {
      for (const [offset, items] of [...pieces].sort(([a], [b]) => a - b)) {
        const at = items.findIndex(isMeant);
        if (at !== -1) return offset + at;
      }
      return -1;
    },
    want: (first, last) => {
      wanted.current = { first, last };
      wake.current();
    },
    again: () => setRound((before) => before + 1),
  };
}

/** Index of the first item of the piece that an item is in. */
function beginOf(index: number): number {
  return index < FIRST ? 0 : index - ((index - FIRST) % PIECE);
}

function lengthAt(offset: number): number {
  return offset === 0 ? FIRST : PIECE;
}

/** The offset of the next piece that is wanted and missing; undefined if none is. */
function missing(
  pieces: ReadonlyMap<number, unknown>,
  count: number,
  { first, last }: { readonly first: number; readonly last: number },
): number | undefined {
  if (!pieces.has(0)) return 0;
  for (let at = beginOf(Math.max(0, first)); at < Math.min(last, count); at += lengthAt(at))
    if (!pieces.has(at)) return at;
  return undefined;
}
