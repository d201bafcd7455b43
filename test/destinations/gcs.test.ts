/** Google Cloud Storage: no server of it can be had, so its interface as it is described, in this process. */
import { randomBytes } from 'node:crypto';
import { withAdaptiveParallelism } from '../../src/destination/open/adaptive.ts';
import { openGoogleDestination } from '../../src/destination/gcs/gcs.ts';
import { withRetry } from '../../src/destination/retry.ts';
import { destinationContract } from '../contract/destination-suite.ts';
import { startGoogleStore } from '../support/google-store.ts';

destinationContract('Google Cloud Storage as its interface is described', async () => {
  const store = await startGoogleStore();
  const prefix = `${randomBytes(4).toString('hex')}/a b`;
  return {
    // As anybody opens it: more than a thousand calls at once are more than a server takes.
    open: async () =>
      withRetry(
        withAdaptiveParallelism(
          await openGoogleDestination({ kind: 'gs', bucket: 'bucket', prefix, endpoint: store.endpoint }),
        ),
      ),
    remove: async () => await store[Symbol.asyncDispose](),
  };
});
