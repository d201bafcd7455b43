import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { defaultSettings, defaultSource } from '../../../src/config/effective-settings.ts';
import { tellAbsences } from '../../../src/daemon/health/absence-watch.ts';
import { openStateDatabase } from '../../../src/db/state-database.ts';
import type { Notice } from '../../../src/notify/notice.ts';
import { removeTree } from '../../support/remove-tree.ts';
import { systemClock } from '../../../src/base/clock.ts';

const DAY_MS = 86_400_000;

test('a source without any backup is told of after the days of the settings, once a day, restarts or not', async () => {
  const directory = mkdtempSync(join(tmpdir(), 'holdfast-absence-'));
  let nowMs = Date.UTC(2026, 0, 1);
  const clock = { ...systemClock, now: () => nowMs };
  const context = { home: directory, stateDirectory: directory };
  const defaults = defaultSettings(context);
  const settings = { ...defaults, sources: [defaultSource('/photos', defaults, context)] };
  const notices: Notice[] = [];
  const look = async (): Promise<void> => {
    const state = openStateDatabase(join(directory, 'state.db'), clock);
    await tellAbsences({
      settings: () => settings,
      state,
      notifier: { notify: (notice) => void notices.push(notice) },
      clock,
    });
    state.close();
  };
  await look();
  nowMs += 2 * DAY_MS;
  await look();
  expect(notices).toEqual([]);
  nowMs += 2 * DAY_MS;
  await look();
  await look();
  expect(notices.map(({ kind, source }) => [kind, source])).toEqual([['absence', '/photos']]);
  nowMs += DAY_MS;
  await look();
  expect(notices).toHaveLength(2);
  removeTree(directory);
});
