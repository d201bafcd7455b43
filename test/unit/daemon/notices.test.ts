/** The receivers of notices, as the settings name them. */
import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { systemClock } from '../../../src/base/clock.ts';
import { defaultSettings } from '../../../src/config/effective-settings.ts';
import { noticeChecks, secretsOfNotices, toldIn } from '../../../src/daemon/alarms/notices.ts';
import { testNotice } from '../../../src/daemon/alarms/notice-test.ts';
import type { NoticeKind } from '../../../src/notify/notice.ts';
import { Notifier } from '../../../src/notify/notifier.ts';
import type { Sender } from '../../../src/notify/sender.ts';
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
  const policy = { attempts: 2, firstDelayMs: 1, maxDelayMs: 1, pauseMs: 60_000 };
  const notifier = new Notifier(sendersOf(settings, secretsOfNotices(settings, secrets), systemClock), {
    clock: systemClock,
    host: 'here',
    policy,
    log: () => undefined,
  });
  const paths = (): readonly string[] =>
    receiver.received.splice(0).map(({ path }) => path.replace(/[/?].*/, (rest) => rest.slice(0, 5)));

  notifier.notify(sampleNotice({ kind: 'backup.failed' }));
  await until(() =>
    notifier.status().every(({ name, state }) => state === (name === 'webhook' ? 'failing' : 'ok')),
  );
  expect(paths()).toEqual(['/ping']);
  expect(noticeChecks(notifier)).toEqual([
    {
      name: 'notices',
      status: 'warning',
      message:
        'Notices by webhook could not be delivered, 1 is waiting and will be tried again; holdfast logs says why.',
    },
  ]);

  writeFileSync(file, 'plain words', { mode: 0o600 });
  notifier.notify(sampleNotice({ kind: 'backup.failed' }));
  await until(() => notifier.status().every(({ waiting }) => waiting === 0));
  expect([...paths()].sort()).toEqual(['/hook', '/hook', '/ping']);
  expect(noticeChecks(notifier)).toEqual([]);
  await notifier.close();
  await receiver.close();
  removeTree(directory);
});

test('what people were told outlives the agent, and is told anew where it cannot be written down', async () => {
  const kept = new Map<string, string>();
  const settings = {
    get: (key: string) => kept.get(key),
    set: (key: string, text: string | undefined) =>
      void (text === undefined ? kept.delete(key) : kept.set(key, text)),
  };
  const full = {
    get: () => undefined,
    set: () => {
      throw new Error('the disk is full');
    },
  };
  const troubles: unknown[] = [];
  /** What an agent tells people that begins now, and ends after it. */
  const told = async (kind: NoticeKind, book: typeof settings = settings): Promise<readonly string[]> => {
    const sent: string[] = [];
    const people: Sender = {
      name: 'people',
      everything: false,
      keeps: true,
      send: async (notice) => void (await Promise.resolve(sent.push(notice.kind))),
      close: () => undefined,
    };
    const log = (): void => undefined;
    const of = toldIn(book, (error) => troubles.push(error));
    const notifier = new Notifier([people], { clock: systemClock, host: 'here', log, told: of });
    notifier.notify(sampleNotice({ kind, at: 1_000 }));
    await notifier.close();
    return sent;
  };
  expect([await told('backup.failed'), await told('backup.failed')]).toEqual([['backup.failed'], []]);
  expect([await told('backup.completed'), await told('backup.completed')]).toEqual([
    ['backup.completed'],
    [],
  ]);
  expect(troubles).toEqual([]);
  expect(await told('backup.failed', full)).toEqual(['backup.failed']);
  expect(troubles).toHaveLength(1);
});

test('a test message on the desktop needs the setting', async () => {
  const { notices } = defaultSettings({ home: '/home/ada', stateDirectory: '/home/ada/state' });
  const secrets = { env: {}, childEnv: {}, home: '/home/ada', clock: systemClock };
  const parts = { secrets, clock: systemClock };
  await expect(testNotice('desktop', notices, parts, new AbortController().signal)).rejects.toMatchObject({
    code: 'INVALID_REQUEST',
    message: 'No notices are sent by desktop',
  });
});
