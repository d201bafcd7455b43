/** A destination that answers is not called reachable where its backups are gone. */
import { expect, test } from 'vitest';
import type { Overview, Statement } from '../../../src/api/schemas/page/overview.ts';
import { lostAt } from '../../../src/ui/parts/lost-place.ts';
import { overviewOnPage } from '../../support/overview-on-page.ts';

const AT = '2026-11-22T12:00:00.000Z';

function withStatement(facts: Partial<Statement>): Overview {
  const overview = overviewOnPage(AT);
  const source = { path: '/a', name: 'a', destination: 'usb', schedule: 'off' };
  const rest = {
    last_good_backup_at: AT,
    earlier_backup_at: null,
    next_run_at: null,
    overdue: false,
    watching: true,
  };
  return {
    ...overview,
    others: [{ ...overview.headline, paths: ['/a'], ...facts }],
    sources: [{ ...source, ...rest, files: 1, size_bytes: 1, history: [] }],
  };
}

test('another repository, or none, in the place of the one that has the backups', () => {
  for (const reason of ['emptied', 'other_repository'] as const) {
    expect(lostAt('usb', withStatement({ code: 'last_failed', reason }))).toBe(reason);
    expect(lostAt('usb', withStatement({ code: 'overdue', reason, to: ['usb'] }))).toBe(reason);
    expect(lostAt('usb', withStatement({ code: 'last_failed', reason, to: ['default'] }))).toBeUndefined();
    expect(lostAt('default', withStatement({ code: 'last_failed', reason }))).toBeUndefined();
  }
  expect(lostAt('usb', withStatement({ code: 'destination_gone', paths: [], to: ['usb'] }))).toBe('emptied');
});

test('nothing else says that the backups are gone', () => {
  for (const reason of ['full', 'away', 'locked_out', null] as const)
    expect(lostAt('usb', withStatement({ code: 'last_failed', reason }))).toBeUndefined();
});
