/** The notice that the backups at a destination are gone. */
import { expect, test } from 'vitest';
import { GoneWatch } from '../../../src/daemon/health/gone-watch.ts';
import { statement, type Statement } from '../../../src/jobs/statement.ts';
import type { Notice } from '../../../src/notify/notice.ts';
import { manualClock } from '../../support/manual-clock.ts';

const HOUR = 3_600_000;

test('a folder that is gone is told of once a day, and not for a moment in which it is moved', async () => {
  const clock = manualClock();
  const notices: Notice[] = [];
  let statements: readonly Statement[] = [];
  const watch = new GoneWatch({
    status: async () => await Promise.resolve({ statements, checks: [] }),
    notifier: { notify: (notice) => void notices.push(notice) },
    clock,
  });
  const gone = statement('destination_gone', { to: ['usb'] });
  statements = [gone];
  await watch.look();
  statements = [];
  await watch.look();
  expect(notices).toEqual([]);
  statements = [gone];
  await watch.look();
  await watch.look();
  await watch.look();
  expect(notices).toMatchObject([{ kind: 'destination.gone', destination: 'usb', source: null }]);
  expect(notices[0]?.text).toContain(
    'the folder of “usb” is gone, and so are the backups in it. Put the folder',
  );
  await clock.advance(25 * HOUR);
  await watch.look();
  expect(notices).toHaveLength(2);
  // It came back, and is gone again.
  statements = [];
  await watch.look();
  statements = [gone];
  await watch.look();
  await watch.look();
  expect(notices).toHaveLength(3);
});
