/** The list of jobs from the newest on, further back on request, kept up to date by events. */
import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import type { AnyJob } from '../../../api/schemas/page/jobs.ts';
import { ask, type AskError, withQuery } from '../../agent/ask.ts';
import { useEvents } from '../../agent/events.ts';
import { useAction, useAsked } from '../../agent/use-asked.ts';
import { type JobFilters, listQuery, merged } from './job-filters.tsx';

interface JobPage {
  readonly items: readonly AnyJob[];
  readonly next_cursor: string | null;
}

interface KnownJobs {
  /** The key of the list. */
  readonly key: string;
  readonly jobs: readonly AnyJob[];
  readonly cursor: string | null;
  /** Whether more than the newest page was requested. */
  readonly isLong: boolean;
}

export interface JobList {
  /** Undefined until the first page has arrived. */
  readonly jobs: readonly AnyJob[] | undefined;
  readonly hasMore: boolean;
  readonly isBusy: boolean;
  readonly problem: AskError | undefined;
  readonly more: () => void;
}

const LIMIT = 30;
/** Milliseconds between two requests while jobs begin and end. */
const PACE_MS = 1_000;

export function useJobs(filters: JobFilters): JobList {
  const key = JSON.stringify(filters);
  // The time is the same for all pages of a list, as a cursor continues the same query.
  const query = useMemo(() => listQuery(filters, Date.now()), [key]);
  const [known, setKnown] = useState<KnownJobs | undefined>(undefined);
  const fetchPage = async (cursor?: string, signal?: AbortSignal): Promise<JobPage> =>
    await ask(
      'GET',
      withQuery('/jobs', { ...query, limit: LIMIT, cursor }),
      signal === undefined ? {} : { signal },
    );
  const newest = useAsked(async (signal) => ({ key, ...(await fetchPage(undefined, signal)) }), [key]);
  useEffect(() => {
    const { data } = newest;
    if (data === undefined) return;
    setKnown((before) => {
      if (before?.key !== data.key || !before.isLong)
        return { key: data.key, jobs: data.items, cursor: data.next_cursor, isLong: false };
      return { ...before, jobs: merged(data.items, before.jobs) };
    });
  }, [newest.data]);

  const waiting = useRef<number | undefined>(undefined);
  useEffect(() => () => clearTimeout(waiting.current), []);
  useEvents(({ kind, job }) => {
    if (job !== null)
      setKnown(
        (before) => before && { ...before, jobs: before.jobs.map((one) => (one.id === job.id ? job : one)) },
      );
    if (kind !== 'job.created' && kind !== 'job.finished') return;
    waiting.current ??= window.setTimeout(() => {
      waiting.current = undefined;
      newest.again();
    }, PACE_MS);
  });

  const older = useAction(async () => {
    if (known === undefined || known.cursor === null) return;
    const page = await fetchPage(known.cursor);
    setKnown((before) => {
      if (before?.key !== key) return before;
      return { key, jobs: merged(page.items, before.jobs), cursor: page.next_cursor, isLong: true };
    });
  });

  const { status } = filters;
  return {
    // A job whose status changes may no longer match the filter.
    jobs: known?.jobs.filter((job) => status === undefined || job.status === status),
    hasMore: known !== undefined && known.key === key && known.cursor !== null,
    isBusy: newest.isBusy || older.isBusy,
    problem: newest.problem ?? older.problem,
    more: () => void older.run(),
  };
}
