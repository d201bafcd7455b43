/** What the page says to do about a statement, and where it leads. */
import { describe, expect, test } from 'vitest';
import type { Statement } from '../../../src/api/schemas/page/overview.ts';
import { todoOf, wayOf } from '../../../src/ui/pages/overview/remedies.ts';

function about(facts: Partial<Statement>): Statement {
  return {
    level: 'bad',
    code: 'protected',
    paths: ['/a'],
    names: ['a'],
    to: [],
    since: null,
    files: [],
    figures: {},
    reason: null,
    check: null,
    check_code: null,
    sentence: '',
    ...facts,
  };
}

describe('what to do', () => {
  test('about a source that is gone is not to confirm that it is empty', () => {
    const gone = todoOf(about({ code: 'source_empty', reason: 'source_missing' }));
    expect(gone).toContain('remove the source');
    expect(gone).not.toContain('meant to be empty');
    expect(todoOf(about({ code: 'source_empty' }))).toContain('meant to be empty');
  });

  test('about a source that was left out from the first does not speak of older snapshots', () => {
    const code = 'source_left_out';
    expect(todoOf(about({ code }))).toBe(
      'The job says which rules they are. Undo them, or remove the source. The next backup clears this warning.',
    );
    const older = 'Your older snapshots are kept. The job says which rules they are.';
    expect(todoOf(about({ code, since: '2026-11-22T12:00:00.000Z' }))).toContain(older);
    expect(todoOf(about({ code, figures: { files_before: 60 } }))).toContain(older);
  });

  test('about a backup that was canceled is to try again', () => {
    for (const code of ['never_backed_up', 'overdue'] as const)
      expect(todoOf(about({ code }))).toBe('The jobs say what happened. To try again, choose “Back up now”.');
    expect(todoOf(about({ code: 'overdue', figures: { paused: 1 } }))).toBe(
      'Backups are paused. Resume them.',
    );
    expect(todoOf(about({ code: 'protected' }))).toBe('');
  });

  test('about a repository that is lost or replaced names another folder, as its own place stays refused', () => {
    for (const reason of ['emptied', 'other_repository'] as const) {
      const todo = todoOf(about({ code: 'last_failed', reason }));
      expect(todo, reason).toContain('another folder');
      expect(todo, reason).not.toMatch(/remove the destination|name of its own/);
    }
  });
});

describe('the way there', () => {
  test('leads to what is there: no failed job while a first backup waits, no alarm where the job names the rule', () => {
    expect(wayOf({ code: 'never_backed_up', check: null })?.href).toBe('#/jobs');
    expect(wayOf({ code: 'last_failed', check: null })?.href).toBe('#/jobs?status=failed');
    expect(wayOf({ code: 'source_left_out', check: null })?.href).toBe('#/jobs?type=backup');
    expect(wayOf({ code: 'source_empty', check: null })?.href).toBe('#/alarms');
  });
});
