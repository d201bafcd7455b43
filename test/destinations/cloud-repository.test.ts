/** Repositories on Azurite, and on the interface of Google Cloud Storage as it is described. */
import { ContainerClient, StorageSharedKeyCredential } from '@azure/storage-blob';
import { afterAll, test } from 'vitest';
import { startAzurite } from '../servers/azurite.ts';
import { startOrSkip } from '../servers/unavailable.ts';
import { startGoogleStore } from '../support/google-store.ts';
import { CYCLE_MS, repositoryCycle } from './repository-cycle.ts';

const found = await startOrSkip(startAzurite);
if ('missing' in found) {
  test.skip(`Azurite was not tested: ${found.missing}`, () => {});
} else {
  const { server } = found;
  afterAll(async () => await server[Symbol.asyncDispose]());
  const { account, accountKey, endpoint } = server;
  const credential = new StorageSharedKeyCredential(account, accountKey);
  await new ContainerClient(`${endpoint}/repositories`, credential).create();
  test(
    'a repository lives on Azurite from its first backup to its restore',
    { timeout: CYCLE_MS },
    async () => {
      const location = `azblob://repositories/laptop?endpoint=${encodeURIComponent(endpoint)}`;
      await repositoryCycle(location, { AZURE_STORAGE_ACCOUNT: account, AZURE_STORAGE_KEY: accountKey });
    },
  );
}

test(
  'a repository lives on the described interface of Google from its first backup to its restore',
  {
    timeout: CYCLE_MS,
  },
  async () => {
    await using store = await startGoogleStore();
    await repositoryCycle(`gs://bucket/laptop?endpoint=${encodeURIComponent(store.endpoint)}`, {});
  },
);
