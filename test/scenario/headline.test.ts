import { expect, test, vi } from 'vitest';
import { appendFileSync } from 'node:fs';
import { protectionOf } from '../../src/jobs/protection.ts';
import { statusLines } from '../../src/cli/status-text.ts';
import { createStyles } from '../../src/cli/terminal.ts';
import { openSituationSite, type SituationSite } from '../support/headline-site.ts';
import { SITUATIONS } from '../support/headline-situations.ts';
import { dropCapabilities } from '../support/unprivileged-children.ts';

const scene = vi.hoisted((): { site: SituationSite | undefined } => ({ site: undefined }));
vi.mock('../../src/watch/native-watcher.ts', async (original) => {
  const real = await original<typeof import('../../src/watch/native-watcher.ts')>();
  return {
    ...real,
    subscribeNative: async (...of: Parameters<typeof real.subscribeNative>) => {
      if (scene.site?.watchLimit === true) throw new Error('No space left on device');
      return await real.subscribeNative(...of);
    },
  };
});

dropCapabilities();
test.each(SITUATIONS)('$name', async ({ name, arrange }) => {
  await using site = await openSituationSite();
  scene.site = site;
  try {
    await arrange(site);
  } catch (e) {
    appendFileSync('/tmp/after.txt', `${name}: ERR ${String(e)}\n`);
  }
  const status = await site.ask('status', {});
  const p = protectionOf(status, site.clock.now());
  appendFileSync(
    '/tmp/after.txt',
    `${name}\n   ${p.level} [${status.status}]\n${statusLines(status, site.clock.now(), createStyles(false))
      .map((l) => `      ${l}\n`)
      .join('')}   checks: ${status.checks
      .filter((c) => c.status !== 'ok')
      .map((c) => `${c.name}/${c.status}`)
      .join(', ')}\n`,
  );
  expect(1).toBe(1);
});
