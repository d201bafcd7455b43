/** `holdfast partner` through the real program: accounts, the service in the foreground, copies of its store. */
// Turn 3 of 8.
import { once } from 'node:events';
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { PASSPHRASE } from '../support/cli.ts';
import { openPartnerPlace, type PartnerPlace } from '../support/partner-program.ts';
import { STORE_KIND } from '../support/partner-store-site.ts';

interface Server {
  readonly variables: { readonly base_url: { readonly default: string } };
}

let place: PartnerPlace;
let password: string;

beforeEach(async () => {
  place = await openPartnerPlace();
  password = join(place.directory, 'password');
  writeFileSync(password, PASSPHRASE, { mode: 0o600 });
});
afterEach(async () => await place[Symbol.asyncDispose]());

const account = (email: string): string[] => [
  'partner',
  'init',
  '--name',
  'Ana Sousa',
  '--email',
  email,
  '--password-file',
  password,
];

test('an account is made once for an address, with a password that is worth the name', async () => {
  const { stdout } = await place.expectRun([...account('Ana@example.org'), '--json']);
  expect(JSON.parse(stdout)).toMatchObject({
    type: 'partner',
    id: expect.stringMatching(/^acct_/),
    email: 'ana@example.org',
  });
  expect((await place.expectRun(account('ana@example.org'), 2)).stderr).toContain(
    'There is already an account with that e-mail address',
  );
  writeFileSync(password, 'short');
  expect((await place.expectRun(account('bo@example.org'), 2)).stderr).toContain('5 characters');
  expect((await place.expectRun(account('nowhere'), 2)).stderr).toContain('not an e-mail address');
});

test('an account is suspended and resumed by its address', async () => {
  await place.expectRun(account('ana@example.org'));
  const said = async (command: string): Promise<string> =>
    (await place.expectRun(['partner', command, 'Ana@example.org'])).stdout;
  expect(await said('suspend')).toMatch(/^Account acct_\w+ of Ana Sousa is suspended from now on\.$/m);
  expect(await said('suspend')).toContain('is suspended already');
  expect(await said('resume')).toContain('is active from now on');
  const { stdout } = await place.expectRun(['partner', 'suspend', 'ana@example.org', '--json']);
  expect(JSON.parse(stdout)).toMatchObject({ type: 'partner', status: 'suspended' });
  expect((await place.expectRun(['partner', 'suspend', 'bo@example.org'], 2)).stderr).toContain(
    'No account has the address bo@example.org',
  );
});

test('somebody who lost the password and the second factor gets in again', async () => {
  await place.expectRun(account('ana@example.org'));
  writeFileSync(password, 'another good passphrase');
  const reset = ['partner', 'reset', 'Ana@example.org', '--password-file', password];
  expect((await place.expectRun(reset)).stdout).toContain(
    'The password of ana@example.org is set, and all sessions have ended.',
  );
  const { stdout } = await place.expectRun([...reset, '--json']);
  expect(JSON.parse(stdout)).toMatchObject({
    type: 'partner',
    email: 'ana@example.org',
    second_factor_removed: false,
  });
  writeFileSync(password, 'short');
  expect((await place.expectRun(reset, 2)).stderr).toContain('5 characters');
  expect((await place.expectRun(['partner', 'reset', 'bo@example.org'], 2)).stderr).toContain(
    'No account has the address bo@example.org',
  );
});

test('the service answers until it is told to end, and a store in a file can be copied meanwhile', async () => {
  await place.expectRun(account('ana@example.org'));
  const child = place.start(['partner', '--port', '0', '--json']);
  const [line]: unknown[] = await once(
    createInterface({ input: child.stdout ?? expect.fail('no output') }),
    'line',
  );
  const { address }: { address: string } = JSON.parse(String(line));
  for (const path of ['/healthz', '/readyz', '/openapi.json', '/docs', '/settings/sign-in'])
    expect([path, (await fetch(`${address}${path}`)).status]).toEqual([path, 200]);
  const description: {
    readonly paths: Record<string, { servers?: readonly Server[] }>;
    servers: readonly Server[];
  } = await (await fetch(`${address}/openapi.json`)).json();
  for (const list of [description.servers, description.paths['/healthz']?.servers ?? []])
    expect(list[0]?.variables.base_url.default).toBe(address);
  expect((await fetch(`${address}/metrics`)).status).toBe(404);
  expect((await fetch(`${address}/api/partner/v1/account`)).status).toBe(401);

  const copy = join(place.directory, 'copy.sqlite');
  const copied = await place.run(['partner', 'copy', copy, '--json']);
  if (STORE_KIND === 'sqlite') expect(JSON.parse(copied.stdout)).toMatchObject({ type: 'copy', file: copy });
  else expect(copied).toMatchObject({ code: 2, stdout: expect.stringContaining('pg_dump') });
  expect(existsSync(copy)).toBe(STORE_KIND === 'sqlite');

  child.kill('SIGTERM');
  const [code]: unknown[] = await once(child, 'close');
  expect(code).toBe(0);
});

test('settings that are wrong are told with their place', async () => {
  const file = join(place.directory, 'partner.json');
  writeFileSync(file, '{\n  "listen": { "prot": 80 }\n}', { mode: 0o600 });
  const { stderr } = await place.expectRun(['partner', '--config', file], 1);
  expect(stderr).toContain('line 2, column 15');
  expect(stderr).toContain('Did you mean "port"?');
  expect((await place.expectRun(['partner', '--config', join(place.directory, 'none')], 1)).stderr).toContain(
    'There is no configuration',
  );
});
