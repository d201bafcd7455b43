/** While the agent does not answer, the overview does not repeat what was so before. */
import { render } from 'preact-render-to-string';
import { expect, test } from 'vitest';
import { AskError } from '../../../src/ui/agent/ask.ts';
import { OverviewProvider } from '../../../src/ui/agent/overview.ts';
import { OverviewPage } from '../../../src/ui/pages/overview/overview-page.tsx';
import { overviewOnPage } from '../../support/overview-on-page.ts';

/** The text of the overview. */
function shownWith(problem: AskError | undefined): string {
  const now = '2026-11-22T16:05:00Z';
  const source = { path: '/a', name: 'a', destination: 'usb', schedule: 'off', last_good_backup_at: now };
  const ran = { earlier_backup_at: null, next_run_at: null, overdue: false, watching: true };
  const rest = { ...ran, files: 1, size_bytes: 1, history: [] };
  const data = { ...overviewOnPage(now), sources: [{ ...source, ...rest }] };
  const asked = { data, problem, isBusy: false, again: () => undefined };
  return render(
    <OverviewProvider value={asked}>
      <OverviewPage route={{ path: [], query: new URLSearchParams() }} />
    </OverviewProvider>,
  );
}

test('the headline is said only while the agent answers', () => {
  expect(shownWith(undefined)).toContain('Protected: last good backup');
  const offline = shownWith(new AskError('OFFLINE', 0, 'x', {}));
  expect(offline).toContain('Not known: the agent is not answering');
  expect(offline).toContain('What you see below is from ');
  expect(offline).toContain('holdfast start');
  expect(offline).not.toContain('Protected: last good backup');
  expect(offline).not.toContain('Pause…');
  // A refusal of another kind says nothing about whether it runs.
  expect(shownWith(new AskError('INTERNAL_ERROR', 500, 'x', {}))).toContain('Protected: last good');
});
