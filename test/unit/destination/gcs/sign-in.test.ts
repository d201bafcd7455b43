/** To whom the key of a service account is shown. */
import type { StorageOptions } from '@google-cloud/storage';
import { expect, test, vi } from 'vitest';
import { openGoogleDestination } from '../../../../src/destination/gcs/gcs.ts';

const seen = vi.hoisted((): StorageOptions[] => []);

vi.mock('@google-cloud/storage', () => ({
  Storage: class {
    constructor(options: StorageOptions) {
      seen.push(options);
    }
    readonly authClient = { getClient: async () => await Promise.resolve() };
    request(): void {}
    bucket(): never {
      throw new Error('Enough for this test');
    }
  },
}));

const credentials = JSON.stringify({ client_email: 'a@b.example', private_key: 'key' });

test.each([
  ['https://storage.example', credentials, true],
  // What would be sent could be read by all, and is of no use to a test server.
  ['http://127.0.0.1:4443', credentials, undefined],
  ['https://storage.example', undefined, undefined],
  [undefined, credentials, undefined],
])('endpoint %s, key %s', async (endpoint, key, expected) => {
  const place = { kind: 'gs', bucket: 'bucket', prefix: '', endpoint } as const;
  await expect(openGoogleDestination(place, { credentials: key })).rejects.toThrow('Enough');
  expect(seen.pop()?.useAuthWithCustomEndpoint).toBe(expected);
});
