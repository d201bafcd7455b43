/** The receivers of notices, as the settings name them. */
import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { systemClock } from '../../../src/base/clock.ts';
import { defaultSettings } from '../../../src/config/effective-settings.ts';
import { noticeChecks, secretsOfNotices } from '../../../src/daemon/notices.ts';
import { Notifier } from '../../../src/notify/notifier.ts';
import { sendersOf } from '../../../src/notify/senders.ts';
import { removeTree } from '../../support/remove-tree.ts';
import { httpReceiver } from '../notify/http-receiver.ts';
import { sampleNotice } from '../notify/sample-notice.ts';

async function until(isSo: () => boolean): Promise<void> {
  await expect.poll(isSo, { timeout: 5_000 }).toBe(true);
}

test('a secret that cannot be had holds up its own receiver alone, until it can', async () => {
  const directory = mkdtempSync(join(tmpdir(), 'holdfast-notices-'));
  const receiver = await httpReceiver();
  const file = join(directory, 'mounted-later');
  const { notices } = defaultSettings({ home: directory, stateDirectory: directory });
  const settings = {
    ...notices,
    healthchecks: { url: `${receiver.url}/ping` },
    webhook: { url: `${receiver.url}/hook`, secret: { file } },
  };
  const secrets = { env: {}, childEnv: {}, home: directory, clock: systemClock };
  const policy = { attempts: 2, firstDelayMs: 1, maxDelayMs: 1 };
  const notifier = new Notifier(sendersOf(settings, secretsOfNotices(settings, secrets), systemClock), {
    clock: systemClock,
    host: 'here',
    policy,
    log: () => undefined,
  });
  const paths = (): readonly string[] =>
    receiver.received.splice(0).map(({ path }) => path.replace(/[/?].*/, (rest) => rest.slice(0, 5)));

  notifier.notify(sampleNotice({ kind: 'backup.failed' }));
  await until(() => notifier.status().every(({ waiting }) => waiting === 0));
  expect(paths()).toEqual(['/ping']);
  expect(noticeChecks(notifier)).toEqual([
    {
      name: 'notices',
      status: 'warning',
      message: 'Notices by webhook could not be delivered; holdfast logs says why.',
    },
  ]);

  writeFileSync(file, 'plain words', { mode: 0o600 });
  notifier.notify(sampleNotice({ kind: 'backup.failed' }));
  await until(() => notifier.status().every(({ waiting }) => waiting === 0));
  expect([...paths()].sort()).toEqual(['/hook', '/ping']);
  expect(noticeChecks(notifier)).toEqual([]);
  await notifier.close();
  await receiver.close();
  removeTree(directory);
});
