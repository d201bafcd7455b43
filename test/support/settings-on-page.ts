/** An agent that pages of settings ask in a test without a browser: it has these settings, and finds nothing wrong. */
import { vi } from 'vitest';
import { checkAgainstSchema } from '../../src/config/validate.ts';

/** Of settings that were read for an earlier page, the page takes those of the same revision for the same. */
let revision = 0;

/** Replaces `fetch` and `location`; `others`: what it answers at further routes. A test ends that with `vi.unstubAllGlobals`. */
export function settingsOnPage(given: unknown, others: Readonly<Record<string, unknown>> = {}): void {
  const { value: settings, faults } = checkAgainstSchema(given);
  if (settings === undefined) throw new Error(`the settings are not valid: ${JSON.stringify(faults)}`);
  revision += 1;
  const answers: Readonly<Record<string, unknown>> = {
    '/settings': { revision: `r${revision}`, settings },
    '/settings/validate': { problems: [] },
    '/schedule-preview': { next: [] },
    ...others,
  };
  vi.stubGlobal('location', { hash: '#/settings/schedule', origin: 'http://127.0.0.1:7390' });
  vi.stubGlobal('fetch', async (url: string) =>
    Response.json({ success: true, data: answers[url.replace('/internal/v1', '')] }),
  );
}
