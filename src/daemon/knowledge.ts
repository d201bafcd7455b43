/** What an agent knows about its backups, and its notices: jobs, alarms, catalogs and the notifier. */
import { existsSync } from 'node:fs';
import { hostname } from 'node:os';
import { createJobBook } from '../jobs/job-book.ts';
import { createMetrics } from '../notify/metrics.ts';
import { Alarms } from './alarms/alarm-book.ts';
import { tellRaised } from './alarms/alarm-reminder.ts';
import { openNotifier } from './alarms/notices.ts';
import type { Foundation } from './foundation.ts';
import { surroundingsOf } from './health/surroundings.ts';
import { bringBackBackups } from './jobs/past-backups.ts';
import { Catalogs } from './snapshots/catalogs.ts';
import { DrillRecords } from './snapshots/drill-records.ts';
import { readingWhenNeeded } from './snapshots/reading-when-needed.ts';
import { LostState } from './state/lost-state.ts';
import { StateRoom } from './state/disk.ts';
import { StateWriting } from './state/writing.ts';

export type Knowledge = Awaited<ReturnType<typeof openKnowledge>>;

export async function openKnowledge(foundation: Foundation, stack: AsyncDisposableStack) {
  const { clock, redactor, state, notes, stateDirectory } = foundation;
  const { redact } = redactor;
  const notifier = openNotifier({ ...foundation, redact });
  stack.defer(async () => await notifier.close());
  const room = new StateRoom(foundation);
  const writing = new StateWriting({
    stateDirectory,
    settings: notes,
    notifier,
    clock,
    isFull: room.isFull,
    isGone: () => !existsSync(stateDirectory),
  });
  const lostState = new LostState({ lost: state.lost, notes, notifier, clock });
  const book = writing.watched(createJobBook(state, clock, redact));
  const alarms = new Alarms(notes, book, clock);
  const catalogs = stack.use(
    new Catalogs({
      ...foundation,
      repositories: foundation.database.repositories,
      claimed: (claims) => tellRaised(alarms.judgeClaims(claims, hostname()), { notifier, clock }),
    }),
  );
  const reading = stack.use(readingWhenNeeded(foundation));
  if (state.lost) await bringBackBackups({ ...foundation, reading });
  return {
    notifier,
    metrics: createMetrics(foundation),
    writing,
    lostState,
    book,
    alarms,
    catalogs,
    reading,
    drills: new DrillRecords(notes, clock),
    surroundings: surroundingsOf({ ...foundation, alarms, room, holdings: () => catalogs.holdings }),
  };
}
