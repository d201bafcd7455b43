/** A run that was missed, and a backup that something else has begun since it was due. */
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { defaultSettings, defaultSource } from '../../../src/config/effective-settings.ts';
import { Backups } from '../../../src/daemon/jobs/backups.ts';
import type { Destinations } from '../../../src/daemon/places/destinations.ts';
import { planOf } from '../../../src/daemon/jobs/planning.ts';
import { failed, newJob, started } from '../../../src/jobs/job-states.ts';
import { openAgentState } from '../../../src/jobs/open-state.ts';
import { manualClock } from '../../support/manual-clock.ts';
import { removeTree } from '../../support/remove-tree.ts';
import { backupOf } from '../jobs/runner-site.ts';

const HOUR_MS = 3_600_000;
const SOURCE = '/home/ana';

/** How many backups are begun for a run that was due an hour ago, when a job was made `agoMs` ago. */
function begunBeside(agoMs: number, isFailed: boolean): number {
  const directory = mkdtempSync(join(tmpdir(), 'holdfast-missed-'));
  onTestFinished(() => removeTree(directory));
  const context = { home: directory, stateDirectory: join(directory, 'state') };
  const defaults = defaultSettings(context);
  const source = { ...defaultSource(SOURCE, defaults, context), destinations: ['nas'], schedule: 'hourly' };
  const settings = { ...defaults, sources: [source] };
  const clock = manualClock();
  const state = openAgentState(directory, clock);
  onTestFinished(() => state.close());
  const made = started(newJob('bkp_1', backupOf(SOURCE, 'nas'), 'watch', clock.now() - agoMs), clock.now());
  state.database.jobs.insert(
    isFailed ? failed(made, { code: 'X', message: 'x', details: {} }, clock.now()) : made,
  );
  let begun = 0;
  const submit = (spec: Parameters<typeof newJob>[1]): ReturnType<typeof newJob>['job'] =>
    newJob(`bkp_${(begun += 1) + 1}`, spec, 'schedule', clock.now()).job;
  const backups = new Backups({
    runner: {
      submit,
      submitPass: (specs) => specs.map(submit),
      cancel: (id) => expect.unreachable(id),
    },
    destinations: {} as Destinations,
    settings: () => settings,
    jobs: state.database.jobs,
    clock,
    trouble: (error) => expect.unreachable(String(error)),
  });
  const planned = planOf(settings).find(({ entry }) => entry.key.startsWith('backup '));
  if (planned !== undefined) backups.due(planned, { lookAtEverything: () => false }, clock.now() - HOUR_MS);
  return begun;
}

test.each([
  ['that began since then is enough', HOUR_MS / 2, false, 0],
  ['that failed since then is not', HOUR_MS / 2, true, 1],
  ['from before is not', 2 * HOUR_MS, false, 1],
  ['that bears a time to come, as the clock was ahead, is not', -HOUR_MS, false, 1],
])('a backup %s', (_, agoMs, isFailed, begun) => {
  expect(begunBeside(agoMs, isFailed)).toBe(begun);
});
