/** What the sign-in to Google Cloud Storage is refused with. */
import { Storage } from '@google-cloud/storage';
import { expect, test, vi } from 'vitest';
import { googleFailure } from '../../../../src/destination/gcs/gcs-failure.ts';
import { tellMissingCredentials } from '../../../../src/destination/gcs/gcs-requests.ts';

const action = { op: 'list', url: 'gs://bucket' };

/** As the library throws it: what its own client of the web makes of the answer of the token endpoint. */
function refused(status: number, data: unknown): Error {
  const response = { status, headers: new Headers({ 'content-type': 'application/json' }), data };
  return Object.assign(new Error('invalid_grant: Invalid JWT'), { code: status, status, response });
}

test.each(['invalid_grant', 'invalid_client', 'unauthorized_client'])(
  'a key that was revoked, or a clock that is wrong, is told for what it is: %s',
  (error) => {
    expect(googleFailure(refused(400, { error, error_description: 'Invalid JWT' }), action)).toMatchObject({
      kind: 'denied',
      retry: 'never',
      hint: expect.stringMatching(/key.*clock/) as unknown,
      message: expect.stringContaining(error) as unknown,
    });
  },
);

test.each([
  [400, { error: { code: 400, message: 'no' } }, 'unsupported'],
  [400, 'no', 'unsupported'],
  [503, { error: 'temporarily_unavailable' }, 'unreachable'],
])('with %s and %j, the status says what it is', (status, data, kind) => {
  expect(googleFailure(refused(status, data), action)).toMatchObject({ kind, details: { status } });
});

test('a file of default credentials that is not there is told for what it is, before anybody is asked', async () => {
  vi.stubEnv('GOOGLE_APPLICATION_CREDENTIALS', '/nowhere/key.json');
  try {
    const storage = new Storage({ projectId: 'none' });
    tellMissingCredentials(storage);
    const error: unknown = await storage.authClient.getRequestHeaders().catch((thrown: unknown) => thrown);
    expect(googleFailure(error, action)).toMatchObject({
      kind: 'denied',
      retry: 'never',
      message: expect.stringContaining('there are no credentials') as unknown,
    });
  } finally {
    vi.unstubAllEnvs();
  }
});
