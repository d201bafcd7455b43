import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { readTestTargets } from '../../../../src/partner/webhooks/test-targets.ts';
import { makeCertificates } from '../../../support/test-certificates.ts';

let directory: string;
let authority: string;
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'holdfast-test-targets-'));
  ({ authority } = await makeCertificates());
  await writeFile(join(directory, 'ca.pem'), authority);
  await writeFile(join(directory, 'words.pem'), 'no certificate');
  await writeFile(
    join(directory, 'broken.pem'),
    '-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n',
  );
});
afterAll(async () => {
  await rm(directory, { recursive: true });
});

describe('receivers of tests', () => {
  const read = async (target: string, file = 'ca.pem'): Promise<unknown> =>
    await readTestTargets([{ target, caFile: join(directory, file) }]);

  it.each([
    ['localhost:8443', 'localhost', 8443],
    ['Receiver.Test:443', 'receiver.test', 443],
    ['127.0.0.1:9443', '127.0.0.1', 9443],
    ['[::1]:9443', '[::1]', 9443],
  ])('are given as %s', async (target, host, port) => {
    expect(await read(target)).toEqual([{ host, port, authority }]);
  });

  it.each([
    'localhost',
    'https://localhost:8443',
    'localhost:8443/hook',
    'a@localhost:8443',
    'localhost:99999',
    '*:443:443',
    '',
  ])('are not given as %s', async (target) => {
    await expect(read(target)).rejects.toMatchObject({
      code: 'CONFIG_INVALID',
      message: expect.stringContaining('webhooks.testTargets'),
    });
  });

  it.each(['words.pem', 'broken.pem', 'absent.pem'])('need a certificate, which %s is not', async (file) => {
    await expect(read('localhost:8443', file)).rejects.toMatchObject({ code: 'CONFIG_INVALID' });
  });
});
