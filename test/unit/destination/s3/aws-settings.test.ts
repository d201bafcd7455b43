import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import type { S3Access } from '../../../../src/destination/access.ts';
import { amazonOf, awsSettings } from '../../../../src/destination/s3/aws-settings.ts';
import { s3Failure } from '../../../../src/destination/s3/s3-failure.ts';

let directory: string;
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'holdfast-aws-'));
  for (const name of Object.keys(process.env)) if (name.startsWith('AWS_')) vi.stubEnv(name, undefined);
  vi.stubEnv('AWS_CONFIG_FILE', join(directory, 'config'));
  vi.stubEnv('AWS_SHARED_CREDENTIALS_FILE', join(directory, 'credentials'));
});
afterEach(async () => {
  vi.unstubAllEnvs();
  await rm(directory, { recursive: true });
});

const place = { kind: 's3', bucket: 'b', prefix: 'p', region: undefined, pathStyle: false } as const;
const settings = async (
  endpoint?: string,
  access: S3Access = {},
  region?: string,
): ReturnType<typeof awsSettings> => await awsSettings({ ...place, endpoint, region }, access, 's3://b/p');

const OTHER = 'https://other.example';

test.each(['AWS_ENDPOINT_URL', 'AWS_ENDPOINT_URL_S3'])(
  'another store that only %s names is refused, with the URL to write',
  async (name) => {
    vi.stubEnv(name, OTHER);
    await expect(settings()).rejects.toMatchObject({
      code: 'INVALID_DESTINATION',
      message: expect.stringContaining(name) as unknown,
      hint: expect.stringContaining(`s3://b/p?endpoint=${OTHER}`) as unknown,
    });
    await settings('https://named.example');
    vi.stubEnv('AWS_IGNORE_CONFIGURED_ENDPOINT_URLS', 'true');
    await settings();
  },
);

test.each([
  `[default]\nendpoint_url = ${OTHER}\n`,
  `[default]\nservices = mine\n[services mine]\ns3 =\n  endpoint_url = ${OTHER}\n`,
])('so is one of the files: %s', async (text) => {
  await writeFile(join(directory, 'config'), text);
  await expect(settings()).rejects.toMatchObject({ hint: expect.stringContaining(OTHER) as unknown });
});

test('the region is looked for where the credentials are, and that of the URL comes first', async () => {
  await writeFile(join(directory, 'config'), '[default]\nregion = of-file\n[profile two]\nregion = of-two\n');
  expect((await settings(OTHER)).region).toBe('of-file');
  expect((await settings(OTHER, { profile: 'two' })).region).toBe('of-two');
  vi.stubEnv('AWS_DEFAULT_REGION', 'of-cli');
  expect((await settings(OTHER)).region).toBe('of-cli');
  vi.stubEnv('AWS_REGION', 'of-variable');
  expect((await settings(OTHER)).region).toBe('of-variable');
  expect((await settings(OTHER, {}, 'of-url')).region).toBe('of-url');
  expect((await settings(OTHER, { accessKeyId: 'AK', secretAccessKey: 'SK' })).region).toBeUndefined();
});

test('certificates that AWS_CA_BUNDLE names are read, or refused', async () => {
  const file = join(directory, 'ca.pem');
  vi.stubEnv('AWS_CA_BUNDLE', file);
  await expect(settings(OTHER)).rejects.toMatchObject({
    kind: 'denied',
    message: expect.stringContaining('(ENOENT)') as unknown,
  });
  await writeFile(file, '-----BEGIN CERTIFICATE-----\n');
  expect((await settings(OTHER)).certificates).toContain('BEGIN');
});

test('the stores of China and of governments are other ones', () => {
  expect(['us-east-1', undefined, 'cn-north-1', 'us-gov-west-1'].map(amazonOf)).toEqual([
    'Amazon',
    'Amazon',
    'Amazon cn',
    'Amazon us-gov',
  ]);
});

test.each([
  [{ name: 'AuthorizationHeaderMalformed', Region: 'garage' }, 400],
  [{ name: 'PermanentRedirect', $response: { headers: { 'x-amz-bucket-region': 'garage' } } }, 301],
  [{ name: 'Unknown', $response: { headers: { 'x-amz-bucket-region': 'garage' } } }, 400],
])('the region that the store names is in the message: %j', (facts, httpStatusCode) => {
  const error = Object.assign(new Error('x'), { $metadata: { httpStatusCode } }, facts);
  expect(s3Failure(error, { op: 'list', url: 's3://b' })).toMatchObject({
    message: expect.stringContaining('the bucket is in the region garage') as unknown,
    hint: expect.stringContaining('?region=garage') as unknown,
  });
});

test.each([
  [{ name: 'UnknownError', $response: { headers: { 'x-amz-request-id': '1' } } }, 302],
  [{ name: '301', $response: { headers: { 'x-amz-request-id': '1' } } }, 301],
  [{ name: 'TemporaryRedirect', $response: { headers: {} } }, 307],
])('a redirect is told as one, and what to do about it: %j', (facts, httpStatusCode) => {
  const error = Object.assign(new Error('UnknownError'), { $metadata: { httpStatusCode } }, facts);
  const { message } = s3Failure(error, { op: 'list', url: 's3://b' }) as Error;
  expect(message).toContain('the store redirects to another address');
  expect(message).not.toContain('UnknownError');
});
