/** Azurite keeps the contract of a destination. */
import { randomBytes } from 'node:crypto';
import {
  ContainerClient,
  StorageSharedKeyCredential,
  generateBlobSASQueryParameters,
  ContainerSASPermissions,
} from '@azure/storage-blob';
import { afterAll, describe, expect, test } from 'vitest';
import { openAzureDestination } from '../../src/destination/azure/azure.ts';
import type { AzurePlace } from '../../src/destination/location.ts';
import { withRetry } from '../../src/destination/retry.ts';
import { destinationContract } from '../contract/destination-suite.ts';
import { startAzurite } from '../servers/azurite.ts';
import { startOrSkip } from '../servers/unavailable.ts';

const live = new AbortController().signal;
const found = await startOrSkip(startAzurite);

if ('missing' in found) {
  test.skip(`Azurite was not tested: ${found.missing}`, () => {});
} else {
  const { server } = found;
  afterAll(async () => await server[Symbol.asyncDispose]());
  const { account, accountKey, endpoint } = server;
  const credential = new StorageSharedKeyCredential(account, accountKey);
  await new ContainerClient(`${endpoint}/contract`, credential).create();
  const place = (prefix: string): AzurePlace => ({
    kind: 'azblob',
    container: 'contract',
    prefix,
    account,
    endpoint,
  });

  destinationContract('Azurite', async () => {
    const prefix = `${randomBytes(6).toString('hex')}/a b`;
    return {
      // As anybody opens it: Azurite closes connections that were idle, which is tried again.
      open: async () => withRetry(await openAzureDestination(place(prefix), { accountKey })),
      remove: async () => {},
    };
  });

  describe('a shared access signature', () => {
    const signature = (permissions: string): string =>
      generateBlobSASQueryParameters(
        {
          containerName: 'contract',
          permissions: ContainerSASPermissions.parse(permissions),
          expiresOn: new Date(Date.now() + 3_600_000),
        },
        credential,
      ).toString();

    test('without the right to delete makes a destination that only grows', async () => {
      const destination = await openAzureDestination(place('sas'), { sasToken: signature('rcl') });
      expect(destination.properties.canDelete).toBe(false);
      await destination.put('a', Buffer.from('a'), live);
      await expect(destination.put('a', Buffer.from('b'), live)).rejects.toMatchObject({ kind: 'exists' });
      await expect(destination.delete('a', live)).rejects.toMatchObject({ kind: 'denied' });
      expect((await destination.get('a', undefined, live)).toString()).toBe('a');
    });

    test('with it makes one that can be pruned', async () => {
      const destination = await openAzureDestination(place('sas2'), { sasToken: signature('rcdl') });
      expect(destination.properties.canDelete).toBe(true);
    });
  });

  test('a container that is not there is not found, and a wrong key is denied', async () => {
    const absent = openAzureDestination({ ...place(''), container: 'absent' }, { accountKey });
    await expect(absent).rejects.toMatchObject({ kind: 'not-found' });
    const wrong = Buffer.from('another key').toString('base64');
    await expect(openAzureDestination(place(''), { accountKey: wrong })).rejects.toMatchObject({
      kind: 'denied',
    });
  });
}
