import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterEach, expect, test, vi } from 'vitest';
import { tlsTrouble } from '../../../src/base/web/trusted-authorities.ts';
import { makeCertificates } from '../../support/test-certificates.ts';

afterEach(() => vi.unstubAllEnvs());

const run = promisify(execFile);
const module = new URL('../../../src/base/web/trusted-authorities.ts', import.meta.url).href;

test('an authority that SSL_CERT_FILE names is trusted by the whole program', async () => {
  const { authority } = await makeCertificates();
  const directory = await mkdtemp(join(tmpdir(), 'holdfast-trust-'));
  const file = join(directory, 'authority.pem');
  await writeFile(file, authority);
  const code = `import { getCACertificates } from 'node:tls'; import { trustSystem } from ${JSON.stringify(module)};
trustSystem(); trustSystem(); process.stdout.write(JSON.stringify(getCACertificates('default').map((one) => one.trim())));`;
  const { stdout } = await run(process.execPath, ['--no-warnings', '--input-type=module', '-e', code], {
    env: { ...process.env, SSL_CERT_FILE: file },
    maxBuffer: 32 * 1024 * 1024,
  });
  const trusted = JSON.parse(stdout) as readonly string[];
  expect(trusted).toContain(authority.trim());
  expect(trusted.length).toBeGreaterThan(100);
  await rm(directory, { recursive: true });
});

test.each([
  ['CERT_HAS_EXPIRED', /expired/, /clock/],
  ['CERT_NOT_YET_VALID', /not valid yet/, /Set the clock.*UTC/],
  ['ERR_TLS_CERT_ALTNAME_INVALID', /another name/, /address/],
  ['SELF_SIGNED_CERT_IN_CHAIN', /cannot be trusted/, /SSL_CERT_FILE/],
  ['UNABLE_TO_VERIFY_LEAF_SIGNATURE', /cannot be trusted/, /those of this system/],
  ['ERR_SSL_WRONG_VERSION_NUMBER', /no secure connection/, /port/],
])('%s is told with what to do', (code, what, hint) => {
  const trouble = tlsTrouble(code);
  expect(trouble?.what).toMatch(what);
  expect(trouble?.hint).toMatch(hint);
});

test('a file that is named and not there is said, and the service by its way', () => {
  vi.stubEnv('SSL_CERT_FILE', '/nowhere/own.pem');
  vi.stubEnv('INVOCATION_ID', 'x');
  expect(tlsTrouble('DEPTH_ZERO_SELF_SIGNED_CERT')?.hint).toMatch(
    /of the service \(docs\/service\.md\)\. SSL_CERT_FILE names \/nowhere\/own\.pem, which cannot be read: no such file or directory \(ENOENT\)/,
  );
});

test.each(['ECONNREFUSED', 'EPROTOCOL', 'ENOTFOUND'])('%s has nothing to do with it', (code) => {
  expect(tlsTrouble(code)).toBeUndefined();
});
