/** What every page knows about the agent. It is fetched once, and again when an event says that it has changed. */
import { createContext } from 'preact';
import { useContext, useEffect, useRef, useState } from 'preact/hooks';
import type { Overview } from '../../api/schemas/page/overview.ts';
import { ask } from './ask.ts';
import { useEvents } from './events.ts';
import { type Asked, useAsked } from './use-asked.ts';

const OverviewContext = createContext<Asked<Overview> | undefined>(undefined);
export const OverviewProvider = OverviewContext.Provider;

/** For pages below the frame, which shows them only once the overview has loaded. */
export function useOverview(): Overview {
  const data = useContext(OverviewContext)?.data;
  if (data === undefined) throw new Error('a page is shown before the overview is there');
  return data;
}

/** The destinations of the overview; empty until it has loaded. */
export function useKnownDestinations(): Overview['destinations'] {
  return useContext(OverviewContext)?.data?.destinations ?? [];
}

/** Fetches the overview again, after a change of which no event tells. */
export function useOverviewAgain(): () => void {
  const asked = useContext(OverviewContext);
  return asked?.again ?? (() => undefined);
}

/** Milliseconds between two requests: while events come, and without events, since ages grow. */
const BUSY_MS = 1_000;
const CALM_MS = 30_000;

export function useAskedOverview(): Asked<Overview> {
  const asked = useAsked((signal) => ask<Overview>('GET', '/overview', { signal }), []);
  const waiting = useRef<number | undefined>(undefined);
  const [, setTick] = useState(0);
  const later = (ms: number): void => {
    waiting.current ??= window.setTimeout(() => {
      waiting.current = undefined;
      setTick((before) => before + 1);
      asked.again();
    }, ms);
  };
  useEvents(({ kind }) => {
    // Progress events are followed by the components that show them.
    if (kind !== 'job.updated') later(BUSY_MS);
  });
  useEffect(() => {
    const timer = setInterval(() => later(0), CALM_MS);
    return () => {
      clearInterval(timer);
      clearTimeout(waiting.current);
    };
  }, []);
  return asked;
}
