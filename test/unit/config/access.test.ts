import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { systemClock } from '../../../src/base/clock.ts';
import { accessSecrets, resolveAccess } from '../../../src/config/access.ts';
import type { AccessSettings } from '../../../src/config/settings.ts';
import { load, problemsOf } from '../../support/config-place.ts';

const live = new AbortController().signal;
const directory = mkdtempSync(join(tmpdir(), 'holdfast-access-'));
afterAll(() => rmSync(directory, { recursive: true }));

function accessOf(url: string, access: object): AccessSettings {
  const { settings } = load(JSON.stringify({ destinations: { one: { url, access } } }));
  const found = settings.destinations.find(({ name }) => name === 'one')?.access;
  if (found === undefined) throw new Error('There is no access');
  return found;
}

const s3 = { accessKeyId: 'AK', secretAccessKey: { env: 'S3_SECRET' }, objectLockDays: 30 };

describe('the access of a destination', () => {
  test('has every default, and paths without "~"', () => {
    const access = accessOf('sftp://host/dir', { sftp: { keyFile: '~/.ssh/id' } });
    expect(access.sftp?.keyFile).toMatch(/^\/.+\/\.ssh\/id$/);
    expect(access).toMatchObject({
      s3: null,
      sftp: { keyPassphrase: null, password: null, hostKeyFile: null, appendOnly: false, connections: 4 },
    });
    expect(accessOf('s3://bucket', { s3 }).s3).toMatchObject({
      objectLock: { mode: 'governance', days: 30 },
      serverSideEncryption: 'none',
      storageClass: null,
    });
  });

  test.each([
    ['s3://bucket', { sftp: {} }, 'destinations.one.access.sftp'],
    ['/mnt/backup', { s3: {} }, 'destinations.one.access.s3'],
    ['webdavs://host/dir', { webdav: {}, rclone: {} }, 'destinations.one.access.rclone'],
    ['s3://bucket', { s3: { accessKeyId: 'AK' } }, 'destinations.one.access.s3'],
    ['s3://bucket', { s3: { secretAccessKey: { env: 'A' } } }, 'destinations.one.access.s3'],
  ])('for %s is refused as %j at %s', (url, access, path) => {
    const problems = problemsOf(JSON.stringify({ destinations: { one: { url, access } } }));
    expect(problems.map((problem) => problem.path)).toEqual([path]);
  });

  test('holds no secret itself', () => {
    const access = { s3: { accessKeyId: 'AK', secretAccessKey: 'canary' } };
    const problems = problemsOf(JSON.stringify({ destinations: { one: { url: 's3://bucket', access } } }));
    expect(problems.map(({ code }) => code)).toContain('SECRET_IN_CONFIG');
    expect(JSON.stringify(problems)).not.toContain('canary');
  });

  test('has its secrets looked up when it is used, and each is told to who keeps them out of texts', async () => {
    const file = join(directory, 'token');
    writeFileSync(file, 'canary-token\n');
    chmodSync(file, 0o600);
    const learned: string[] = [];
    const context = {
      env: { S3_SECRET: 'canary-secret' },
      home: directory,
      clock: systemClock,
      learn: (secret: string) => void learned.push(secret),
    };
    const settings = accessOf('s3://bucket', { s3: { ...s3, sessionToken: { file } } });
    const { s3: resolved, ...others } = await resolveAccess(settings, context, live);
    expect(resolved).toMatchObject({
      accessKeyId: 'AK',
      secretAccessKey: 'canary-secret',
      sessionToken: 'canary-token',
      serverSideEncryption: undefined,
      objectLock: { mode: 'governance', days: 30 },
    });
    expect(others).toEqual({});
    expect(learned).toEqual(['canary-secret', 'canary-token']);
    expect(accessSecrets(settings)).toEqual([{ env: 'S3_SECRET' }, { file }]);
    expect(await resolveAccess(undefined, context, live)).toEqual({});
  });
});
