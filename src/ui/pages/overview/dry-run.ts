/** A backup that only says what it would do: started, waited for, and what came of it. */
import { useEffect, useState } from 'preact/hooks';
import type { Backup } from '../../../api/schemas/backup.ts';
import type { OverviewSource } from '../../../api/schemas/page/overview.ts';
import type { AskError } from '../../agent/ask.ts';
import { ask } from '../../agent/ask.ts';
import { isOver } from '../../agent/active-jobs.ts';
import { useEvents } from '../../agent/events.ts';
import { useAction, useAsked } from '../../agent/use-asked.ts';

export interface DryRun {
  /** As it ended. */
  readonly job: Backup | undefined;
  readonly isBusy: boolean;
  readonly problem: AskError | undefined;
  readonly run: () => Promise<void>;
  readonly forget: () => void;
}

/** To the first of its destinations: the others would store the same. */
export function useDryRun(rows: readonly Pick<OverviewSource, 'path' | 'destination'>[]): DryRun {
  const [id, setId] = useState<string | undefined>(undefined);
  const [job, setJob] = useState<Backup | undefined>(undefined);
  // It may be over before it is known which one it is: so it is asked for once, and listened to from then on.
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
