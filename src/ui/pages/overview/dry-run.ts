/** Starts a backup that only says what it would do, waits for it, and keeps its result. */
import { useEffect, useState } from 'preact/hooks';
import type { Backup } from '../../../api/schemas/backup.ts';
import type { OverviewSource } from '../../../api/schemas/page/overview.ts';
import type { AskError } from '../../agent/ask.ts';
import { ask } from '../../agent/ask.ts';
import { isOver } from '../../agent/active-jobs.ts';
import { useEvents } from '../../agent/events.ts';
import { useAction, useAsked } from '../../agent/use-asked.ts';

export interface DryRun {
  /** The job after its end. */
  readonly job: Backup | undefined;
  readonly isBusy: boolean;
  readonly problem: AskError | undefined;
  readonly run: () => Promise<void>;
  readonly forget: () => void;
}

/** Uses the first destination: the others would store the same. */
export function useDryRun(rows: readonly Pick<OverviewSource, 'path' | 'destination'>[]): DryRun {
  const [id, setId] = useState<string | undefined>(undefined);
  const [job, setJob] = useState<Backup | undefined>(undefined);
  // The job may end before its id is known, so it is fetched once and then followed by events.
  const asked = useAsked(
    async (signal) => (id === undefined ? undefined : await ask<Backup>('GET', `/jobs/${id}`, { signal })),
    [id],
  );
  const told = (newest: Backup | undefined): void => {
    if (newest !== undefined && newest.id === id && isOver(newest)) setJob(newest);
  };
  useEffect(() => told(asked.data), [asked.data]);
  useEvents((event) => {
    if (event.job?.type === 'backup') told(event.job);
  });
  const start = useAction(async () => {
    setJob(undefined);
    setId(undefined);
    const { id: started } = await ask<Backup>('POST', '/backup', {
      body: { source: rows[0]?.path, destination: rows[0]?.destination, options: { dry_run: true } },
    });
    setId(started);
  });
  return {
    job,
    isBusy: start.isBusy || (id !== undefined && job === undefined && asked.problem === undefined),
    problem: start.problem ?? asked.problem,
    run: start.run,
    forget: () => {
      setId(undefined);
      setJob(undefined);
    },
  };
}
