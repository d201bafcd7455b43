/** A far destination that goes away, fills up or is swapped in the middle of a backup, through the real agent. */
import { randomBytes } from 'node:crypto';
import { chmodSync, readFileSync, readdirSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { DeleteObjectsCommand, ListObjectsV2Command, type S3Client } from '@aws-sdk/client-s3';
import { afterAll, describe, expect, test } from 'vitest';
import type { Job, JobSpec } from '../../src/jobs/job.ts';
import { startMoto } from '../servers/moto.ts';
import { startOpenSsh, type OpenSshOptions } from '../servers/open-ssh.ts';
import { startOrSkip } from '../servers/unavailable.ts';
import { compareTrees, shownDifference } from '../support/compare-trees.ts';
import { eventually, openDaemonSite, type DaemonSite } from '../support/daemon-site.ts';
import { startFaultProxy, type Deed, type FaultProxy } from '../support/fault-proxy.ts';
import { makeBucket, s3Client } from '../support/s3-bucket.ts';
import { answerWith, anything, below, isPut, refusal } from '../support/store-faults.ts';

const MINUTE_MS = 60_000;

/** A backup of what is new since the last one: several packs. */
async function submitBackup(site: DaemonSite): Promise<string> {
  site.write({ [`new-${randomBytes(4).toString('hex')}`]: randomBytes(6_000_000) });
  const { source } = site;
  return (await site.agent.requestBackup({ source, options: {} }, 'api')).id;
}

/** However long it takes. */
async function ended(site: DaemonSite, id: string): Promise<Job> {
  for (;;) {
    const job = await site.agent.waitFor(id, MINUTE_MS, new AbortController().signal);
    if (job.finished_at !== null) return job;
  }
}

async function expectSound(site: DaemonSite): Promise<void> {
  const run = async (spec: JobSpec): Promise<Job> =>
    await site.ended((await site.agent.submit(spec, 'api')).id);
  const job = await site.ended(await submitBackup(site));
  expect(job).toMatchObject({ status: 'completed', error: null });
  const checked = await run({ type: 'check', destination: 'far', read_data: 1 });
  expect(checked).toMatchObject({ status: 'completed', error: null });
  const target = join(site.directory, `restored-${randomBytes(4).toString('hex')}`);
  const options = {
    overwrite: 'never',
    dry_run: false,
    verify: true,
    delete_extra: false,
    restore_ownership: process.getuid?.() === 0,
  } as const;
  const snapshot_id = job.snapshot_id ?? '';
  const restored = await run({
    type: 'restore',
    destination: 'far',
    snapshot_id,
    paths: [],
    target,
    options,
  });
  expect(restored).toMatchObject({ status: 'completed', error: null });
  expect(compareTrees(site.source, join(target, site.source)).map(shownDifference)).toEqual([]);
}

function secretFile(site: DaemonSite, name: string, text: string): string {
  const file = join(site.directory, name);
  writeFileSync(file, `${text}\n`);
  chmodSync(file, 0o600);
  return file;
}

const moto = await startOrSkip(startMoto);
if ('missing' in moto) test.skip(`moto was not tested: ${moto.missing}`, () => {});
else {
  const { server } = moto;
  const client = s3Client(server);
  afterAll(async () => {
    client.destroy();
    await server[Symbol.asyncDispose]();
  });
  await makeBucket(server, 'agents');

  interface Far extends AsyncDisposable {
    readonly site: DaemonSite;
    readonly proxy: FaultProxy;
    readonly prefix: string;
  }

  /** The agent with a bucket behind a proxy, and one backup made. */
  const begin = async (): Promise<Far> => {
    const proxy = await startFaultProxy(server.endpoint);
    const site = await openDaemonSite();
    const prefix = `agent-${randomBytes(4).toString('hex')}`;
    const { accessKeyId, secretAccessKey } = server;
    await site.configure({
      defaultDestination: 'far',
      destinations: {
        far: {
          url: `s3://agents/${prefix}?endpoint=${proxy.endpoint}`,
          passphrase: { file: secretFile(site, 'passphrase', 'correct horse battery staple') },
          access: {
            s3: { accessKeyId, secretAccessKey: { file: secretFile(site, 'key', secretAccessKey) } },
          },
        },
      },
    });
    site.write({ first: 'first' });
    expect(await site.backUp()).toMatchObject({ status: 'completed' });
    return {
      site,
      proxy,
      prefix,
      async [Symbol.asyncDispose]() {
        proxy.calm();
        await site[Symbol.asyncDispose]();
        await proxy[Symbol.asyncDispose]();
      },
    };
  };

  /** From the first pack on. */
  const fromThePacks = (proxy: FaultProxy, deed: Deed, fits = isPut): void => {
    let began = false;
    proxy.inject([
      {
        fits: (asked) => {
          began ||= below('packs/', isPut)(asked);
          return began && fits(asked);
        },
        deed,
      },
    ]);
  };

  const snapshotsIn = async (prefix: string): Promise<number> =>
    (await keysBelow(client, `${prefix}/snapshots/`)).length;

  describe.concurrent('in the middle of a backup, a bucket', () => {
    test('that refuses connections for a moment goes on being used, and the job knows nothing of it', async () => {
      await using far = await begin();
      const { proxy, site } = far;
      let unplugged: Promise<void> | undefined;
      fromThePacks(proxy, () => {
        unplugged ??= proxy.unplug();
        return 'close';
      });
      const id = await submitBackup(site);
      await eventually(() => unplugged !== undefined, 'the first pack');
      await unplugged;
      await delay(2_000);
      proxy.calm();
      await proxy.plugIn();
      expect(await site.ended(id)).toMatchObject({ status: 'completed', attempt: 1, error: null });
      await expectSound(site);
    });

    test('that refuses connections for longer than minutes is waited for, and the job goes on when it is back', async () => {
      await using far = await begin();
      const { proxy, site } = far;
      let unplugged: Promise<void> | undefined;
      fromThePacks(proxy, () => {
        unplugged ??= proxy.unplug();
        return 'close';
      });
      const id = await submitBackup(site);
      await eventually(() => unplugged !== undefined, 'the first pack');
      const began = performance.now();
      for (let job = site.agent.job(id); job?.status !== 'queued'; job = site.agent.job(id)) {
        expect(job?.finished_at).toBe(null);
        expect(performance.now() - began).toBeLessThan(10 * MINUTE_MS);
        await delay(200);
      }
      expect(site.agent.job(id)).toMatchObject({
        attempt: 2,
        waiting_for: 'The destination cannot be reached; Holdfast will try again.',
        error: { code: 'DESTINATION_UNREACHABLE', message: expect.stringContaining('ECONNREFUSED') },
      });
      proxy.calm();
      await proxy.plugIn();
      site.clock.skip(MINUTE_MS);
      expect(await site.ended(id)).toMatchObject({ status: 'completed', error: null });
      await expectSound(site);
    });

    test('that says nothing is given up after a minute of silence, and what is stored goes on', async () => {
      await using far = await begin();
      const { proxy, site } = far;
      proxy.inject([{ fits: below('packs/', isPut), most: 2, deed: () => 'silence' }]);
      const id = await submitBackup(site);
      await eventually(() => proxy.fired > 0 || proxy.came > 30, 'the first pack');
      const began = performance.now();
      expect(await ended(site, id)).toMatchObject({ status: 'completed', attempt: 1, error: null });
      const seconds = (performance.now() - began) / 1_000;
      console.info(`silence was given up and the backup over after ${seconds.toFixed(0)} s`);
      expect(seconds).toBeGreaterThan(55);
      await expectSound(site);
    });

    test.each([
      [
        'is full',
        refusal(507, 'XMinioStorageFull'),
        'INSUFFICIENT_STORAGE',
        /no space left.*Free up some space/,
      ],
      ['is over its quota', refusal(403, 'QuotaExceeded'), 'INSUFFICIENT_STORAGE', /quota is used up/],
      [
        'may only be read',
        refusal(403, 'AccessDenied'),
        'DESTINATION_AUTH_FAILED',
        /the store refuses.*credentials/,
      ],
      [
        'is under other keys',
        refusal(403, 'InvalidAccessKeyId'),
        'DESTINATION_AUTH_FAILED',
        /credentials are wrong/,
      ],
      ['has gone', refusal(404, 'NoSuchBucket'), 'DESTINATION_ERROR', /no such bucket/],
    ])(
      'that %s ends it with that reason and no snapshot, and the next one is whole',
      async (_, answer, code, message) => {
        await using far = await begin();
        const { prefix, proxy, site } = far;
        const before = await snapshotsIn(prefix);
        fromThePacks(proxy, answerWith(answer), code === 'DESTINATION_ERROR' ? anything : isPut);
        const job = await site.ended(await submitBackup(site));
        expect(proxy.fired).toBeGreaterThan(0);
        expect(job).toMatchObject({
          status: 'failed',
          snapshot_id: null,
          error: { code, message: expect.stringMatching(message) },
        });
        expect(await snapshotsIn(prefix)).toBe(before);
        proxy.calm();
        await expectSound(site);
      },
    );

    test('that is emptied is told from one that was always so, by the next job at the latest', async () => {
      await using far = await begin();
      const { prefix, proxy, site } = far;
      let emptied: Promise<void> | undefined;
      fromThePacks(proxy, async (asked, pass) => {
        emptied ??= empty(client, prefix);
        await emptied;
        return await pass(asked);
      });
      await site.ended(await submitBackup(site));
      expect(emptied).toBeDefined();
      await emptied;
      proxy.calm();
      const after = await site.ended(await submitBackup(site));
      expect(after).toMatchObject({
        status: 'failed',
        error: { code: 'DESTINATION_ERROR', message: expect.stringContaining('is gone: the place is empty') },
      });
    });
  });
}

const ssh = await startOrSkip(startOpenSsh);
if ('missing' in ssh) test.skip(`OpenSSH was not tested: ${ssh.missing}`, () => {});
else {
  await ssh.server.stop();

  /** The agent with an SSH server of its own, and one backup made. */
  const begin = async (options: OpenSshOptions = {}) => {
    const server = await startOpenSsh(options);
    const site = await openDaemonSite();
    const { access, data, port, user } = server;
    await site.configure({
      defaultDestination: 'far',
      destinations: {
        far: {
          url: `sftp://${user}@127.0.0.1:${port}${data}/agent`,
          passphrase: { file: secretFile(site, 'passphrase', 'correct horse battery staple') },
          access: { sftp: { keyFile: access.keyFile, hostKeyFile: access.hostKeyFile } },
        },
      },
    });
    site.write({ first: 'first' });
    expect(await site.backUp()).toMatchObject({ status: 'completed' });
    return {
      site,
      server,
      async [Symbol.asyncDispose]() {
        await site[Symbol.asyncDispose]();
        await server.stop();
      },
    };
  };

  const slowly = async (site: DaemonSite, uploadLimit: string | null): Promise<void> => {
    const settings = JSON.parse(readFileSync(site.configFile, 'utf8')) as object;
    await site.configure({ ...settings, timeZone: 'UTC', bandwidth: [{ from: '00:00', uploadLimit }] });
  };

  /** A backup that will take some seconds more. */
  const submitSlowly = async ({ server, site }: Awaited<ReturnType<typeof begin>>): Promise<string> => {
    await slowly(site, '500 KiB');
    const before = bytesBelow(server.data);
    const id = await submitBackup(site);
    await eventually(() => bytesBelow(server.data) > before + 300_000, 'the first bytes');
    return id;
  };

  describe('in the middle of a backup, an SSH server', () => {
    test('that is killed and started again goes on being used, and the job knows nothing of it', async () => {
      await using far = await begin();
      const { server, site } = far;
      const id = await submitSlowly(far);
      await server.kill();
      await delay(2_000);
      await server.restart();
      await slowly(site, null);
      expect(await site.ended(id)).toMatchObject({ status: 'completed', attempt: 1, error: null });
      await expectSound(site);
    });

    test('that rejects the sign-in of the account any more ends it with that reason, and the next one is whole', async () => {
      await using far = await begin();
      const { server, site } = far;
      const id = await submitSlowly(far);
      const keys = join(dirname(server.keyFile), 'authorized_keys');
      const text = readFileSync(keys, 'utf8');
      writeFileSync(keys, '');
      await server.restart();
      await slowly(site, null);
      expect(await site.ended(id)).toMatchObject({
        status: 'failed',
        snapshot_id: null,
        error: { code: 'DESTINATION_AUTH_FAILED', message: expect.stringMatching(/does not let .* in/) },
      });
      writeFileSync(keys, text);
      await expectSound(site);
    });

    test.runIf(process.getuid?.() === 0)(
      'whose disk is full ends it with that reason and no snapshot',
      async () => {
        await using far = await begin({ room: 4_000_000 });
        const { site } = far;
        expect(await site.ended(await submitBackup(site))).toMatchObject({
          status: 'failed',
          snapshot_id: null,
          error: { code: 'INSUFFICIENT_STORAGE', message: expect.stringMatching(/no space left|quota/) },
        });
        const check = await site.agent.submit({ type: 'check', destination: 'far', read_data: 1 }, 'api');
        expect(await site.ended(check.id)).toMatchObject({ status: 'completed', error: null });
      },
    );
  });
}

function bytesBelow(directory: string): number {
  const entries = readdirSync(directory, { recursive: true, withFileTypes: true });
  return entries.reduce((sum, { parentPath, name }) => {
    const stat = statSync(join(parentPath, name), { throwIfNoEntry: false });
    return sum + (stat?.isFile() === true ? stat.size : 0);
  }, 0);
}

async function keysBelow(client: S3Client, prefix: string): Promise<string[]> {
  const { Contents: contents = [] } = await client.send(
    new ListObjectsV2Command({ Bucket: 'agents', Prefix: prefix }),
  );
  return contents.map(({ Key: key = '' }) => key);
}

async function empty(client: S3Client, prefix: string): Promise<void> {
  const keys = await keysBelow(client, `${prefix}/`);
  const objects = { Objects: keys.map((Key) => ({ Key })) };
  await client.send(new DeleteObjectsCommand({ Bucket: 'agents', Delete: objects }));
}
