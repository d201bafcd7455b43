/** docs/api-client.md: its examples, run as one program, before a real agent and a real Partner service. */
// Turn 5 of 8.
import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { promisify } from 'node:util';
import { Webhook } from 'standardwebhooks';
import { expect, test } from 'vitest';
import { desktopClient } from '../../src/client/client.ts';
import { PASSPHRASE } from '../support/cli.ts';
import { generateKey } from '../support/console-html.ts';
import { openPartnerPlace, type PartnerPlace } from '../support/partner-program.ts';

const root = join(import.meta.dirname, '..', '..');
const document = readFileSync(join(root, 'docs', 'api-client.md'), 'utf8');
const blocks = (kind: string): string =>
  [...document.matchAll(/^```(\w+)\n([\s\S]*?)^```$/gm)]
    .filter(([, name]) => name === kind)
    .map(([, , text = '']) => text)
    .join('\n');
const SECRET = `whsec_${Buffer.alloc(32, 7).toString('base64')}`;

/** What is behind the last example: a message comes twice, and one that is not signed. */
const SEND = `
import events from 'node:events';
await events.once(receiver, 'listening');
const send = async (headers, body) => (await fetch('http://127.0.0.1:' + receiver.address().port, { method: 'POST', headers, body })).status;
const { headers, body } = JSON.parse(process.env.MESSAGE);
console.log(await send(headers, body), await send(headers, body), await send({ ...headers, 'webhook-id': 'evt_2' }, body));
receiver.close();
receiver.closeAllConnections();
`;

/** Starts a program of the place; gives where it listens. */
async function startProgram(
  place: PartnerPlace,
  words: readonly string[],
): Promise<{ readonly address: string } & AsyncDisposable> {
  const child = place.start([...words, '--port', '0', '--json'], { env: { HOLDFAST_REPOSITORY: undefined } });
  child.stderr?.resume();
  const [line]: unknown[] = await once(
    createInterface({ input: child.stdout ?? expect.fail('no output') }),
    'line',
  );
  const { address }: { address: string } = JSON.parse(String(line));
  return {
    address,
    async [Symbol.asyncDispose]() {
      child.kill('SIGTERM');
      await once(child, 'close');
    },
  };
}

test('the examples print what is shown, and cost as many requests as is said', async () => {
  await using place = await openPartnerPlace();
  await place.write({ '2026/lake.jpg': 'blue', 'notes.txt': 'Lake in May' });
  const music = join(place.directory, 'music');
  mkdirSync(music);
  writeFileSync(join(music, 'song.ogg'), 'la');
  const password = join(place.directory, 'password');
  writeFileSync(password, PASSPHRASE, { mode: 0o600 });
  await place.expectRun([
    'partner',
    'init',
    '--name',
    'Ana',
    '--email',
    'ana@example.org',
    '--password-file',
    password,
  ]);
  await using agent = await startProgram(place, ['start']);
  await using service = await startProgram(place, ['partner']);
  const partnerKey = await generateKey(service.address, {
    email: 'ana@example.org',
    password: PASSPHRASE,
    name: 'first',
  });
  const { stdout } = await place.expectRun(['credentials', 'create', '--name', 'my-program', '--json']);
  const { api_key: apiKey, secret }: { api_key: string; secret: string } = JSON.parse(stdout);

  const shown = [
    ['http://127.0.0.1:7390', agent.address],
    ['http://127.0.0.1:7391', service.address],
    ['/home/anna/Pictures', place.source],
    ['/home/anna/restored', join(place.directory, 'restored')],
    ['/home/anna/Music', music],
    ['listen(8080)', 'listen(0)'],
  ] as const;
  const filled = (text: string): string => shown.reduce((now, [from, to]) => now.replaceAll(from, to), text);
  mkdirSync(join(place.directory, 'node_modules'));
  symlinkSync(root, join(place.directory, 'node_modules', 'holdfast'), 'junction');
  const program = join(place.directory, 'program.mjs');
  writeFileSync(program, filled(blocks('js')) + SEND);
  const body = JSON.stringify({
    type: 'customer.created',
    timestamp: '2026-11-21T02:31:08.000Z',
    data: { name: 'Bakery' },
  });
  const at = new Date();
  const headers = {
    'webhook-id': 'evt_1',
    'webhook-timestamp': String(Math.floor(at.getTime() / 1_000)),
    'webhook-signature': new Webhook(SECRET).sign('evt_1', at, body),
  };
  const printed = await promisify(execFile)(process.execPath, [program], {
    env: {
      API_KEY: apiKey,
      SECRET: secret,
      PARTNER_KEY: partnerKey,
      WEBHOOK_SECRET: SECRET,
      MESSAGE: JSON.stringify({ headers, body }),
    },
  });
  expect(printed.stdout).toBe(
    `${filled(blocks('text')).replaceAll('\n\n', '\n')}customer.created Bakery\n200 200 400\n`,
  );

  // Backup, its end, files; snapshots, a file; backup, its end; restore, its end at once; settings read, events and
  // settings replaced; the mistake; twice the same; this one.
  const status = await desktopClient({ address: agent.address, apiKey, secret }).get('/status');
  if (!('rate_limit' in status)) expect.fail('asked without a token');
  const { limit, remaining } = status.rate_limit;
  expect(limit - remaining).toBe(3 + 2 + 2 + 1 + 3 + 1 + 2 + 1);
});
