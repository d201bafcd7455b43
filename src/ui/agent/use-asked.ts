import { useCallback, useEffect, useRef, useState } from 'preact/hooks';
import { AskError } from './ask.ts';

export interface Asked<Data> {
  /** The last answer; kept while a new one is awaited. */
  readonly data: Data | undefined;
  /** Why the last request brought no answer. */
  readonly problem: AskError | undefined;
  readonly isBusy: boolean;
  /** Asks once more. */
  readonly again: () => void;
}

/** Asks when the component is first shown, and whenever one of `keys` changes; an earlier request is then aborted. */
export function useAsked<Data>(
  question: (signal: AbortSignal) => Promise<Data>,
  keys: readonly unknown[],
): Asked<Data> {
  const [state, setState] = useState<Omit<Asked<Data>, 'again'>>({
    data: undefined,
    problem: undefined,
    isBusy: true,
  });
  const [round, setRound] = useState(0);
  const latest = useRef(question);
  latest.current = question;
  useEffect(() => {
    const controller = new AbortController();
    const { signal } = controller;
    setState((before) => ({ ...before, isBusy: true }));
    const answered = async (): Promise<void> => {
      try {
        const data = await latest.current(signal);
        if (!signal.aborted) setState({ data, problem: undefined, isBusy: false });
      } catch (error) {
        if (!signal.aborted) setState((before) => ({ ...before, problem: asAskError(error), isBusy: false }));
      }
    };
    void answered();
    return () => controller.abort();
  }, [...keys, round]);
  const again = useCallback(() => setRound((before) => before + 1), []);
  return { ...state, again };
}

/** Work that the user starts with a button, one run at a time, and its outcome. */
export interface Action<Input extends readonly unknown[]> {
  readonly isBusy: boolean;
  readonly problem: AskError | undefined;
  readonly run: (...input: Input) => Promise<void>;
}

export function useAction<Input extends readonly unknown[]>(
  work: (...input: Input) => Promise<void>,
): Action<Input> {
  const [isBusy, setBusy] = useState(false);
  const [problem, setProblem] = useState<AskError | undefined>(undefined);
  const run = async (...input: Input): Promise<void> => {
    if (isBusy) return;
    setBusy(true);
    setProblem(undefined);
    try {
      await work(...input);
    } catch (error) {
      setProblem(asAskError(error));
    } finally {
      setBusy(false);
    }
  };
  return { isBusy, problem, run };
}

/** Turns any error into an AskError, so that a fault of the page itself is shown and not swallowed. */
export function asAskError(error: unknown): AskError {
  if (error instanceof AskError) return error;
  return new AskError('INTERNAL_ERROR', 0, error instanceof Error ? error.message : String(error), {});
}

const PAUSE_MS = 350;

/**
 * Waits until the user pauses in typing, so that one request is made and not one per letter. Rejects with an AbortError
 * when `signal` aborts.
 */
export function typingPause(signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(resolve, PAUSE_MS);
    signal.addEventListener('abort', () => {
      clearTimeout(timer);
      reject(new DOMException('Something newer was requested', 'AbortError'));
    });
  });
}
