/** The second part of the README, line by line: from an account to the first webhook, through the real programs. */
// Turn 8 of 8.
import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as delay } from 'node:timers/promises';
import { promisify } from 'node:util';
import { Webhook } from 'standardwebhooks';
import { expect, test } from 'vitest';
import { PASSPHRASE, executable } from '../support/cli.ts';
import { generateKey } from '../support/console-html.ts';
import { openPartnerPlace } from '../support/partner-program.ts';
import { makeCertificates } from '../support/test-certificates.ts';
import { startWebhookReceiver } from '../support/webhook-receiver.ts';

const run = promisify(execFile);
const readme = readFileSync(join(import.meta.dirname, '..', '..', 'README.md'), 'utf8');
const [, part = ''] = readme.split('## For providers');
const [, block = ''] = part.split(/```(?:sh)?\n/);
const lines = block.trim().split('\n');

/** The last line asks for what became of deliveries, which are on their way. */
async function onceDelivered(ask: () => Promise<string>): Promise<string> {
  for (let turn = 0; ; turn += 1) {
    const reply = await ask();
    if (turn === 60 || (reply.match(/"succeeded"/g) ?? []).length >= 2) return reply;
    await delay(500);
  }
}

test('the lines for providers lead to a customer, a device and a webhook', { timeout: 240_000 }, async () => {
  expect(lines).toHaveLength(10);
  await using place = await openPartnerPlace();
  const { good, authority } = await makeCertificates();
  await using receiver = await startWebhookReceiver(good);
  const caFile = join(place.directory, 'ca.pem');
  const password = join(place.directory, 'password');
  writeFileSync(caFile, authority);
  writeFileSync(password, PASSPHRASE, { mode: 0o600 });
  const target = `localhost:${receiver.port}`;
  await place.configure({ webhooks: { testTargets: [{ target, caFile }] } });

  const [init = '', start = '', named = '', ask = '', ...rest] = lines;
  const bash = async (line: string, before = ''): Promise<string> => {
    const holdfast = `holdfast() { '${process.execPath}' '${executable}' "$@"; }`;
    const env = { ...process.env, HOLDFAST_STATE_DIR: place.state };
    return (await run('bash', ['-ec', [holdfast, before, line].join('\n')], { env })).stdout;
  };
  await bash(init.replace(/ +#.*/, ` --password-file '${password}'`));
  expect(start).toMatch(/^holdfast partner & /);
  const service = place.start(['partner', '--port', '0', '--json']);
  try {
    const output = createInterface({ input: service.stdout ?? expect.fail('no output') });
    const [ready]: unknown[] = await once(output, 'line');
    const { address }: { address: string } = JSON.parse(String(ready));
    const known = {
      'http://127.0.0.1:7391': address,
      'https://hooks.example.org': `https://${target}`,
      'hfp_…': await generateKey(address, {
        email: 'ana@example.org',
        password: PASSPHRASE,
        name: 'first',
      }),
    };
    const filled = (line: string, more: Readonly<Record<string, string>>): string =>
      Object.entries({ ...known, ...more }).reduce((text, [from, to]) => text.replaceAll(from, to), line);
    const ids: Record<string, string> = {};
    const replies: string[] = [];
    for (const line of rest) {
      const say = async (): Promise<string> => await bash(filled(line, ids), filled(`${named}\n${ask}`, {}));
      const reply = line.includes('/deliveries') ? await onceDelivered(say) : await say();
      replies.push(reply);
      if (!line.startsWith('ask')) continue;
      const { success, data }: { success: boolean; data: Record<string, string> } = JSON.parse(reply);
      expect([line, success]).toEqual([line, true]);
      if (line.includes('hooks.')) Object.assign(ids, { WEBHOOK_ID: data['id'] });
      if (line.includes('Bakery')) Object.assign(ids, { CUSTOMER_ID: data['id'] });
      if (line.includes('enrollment-tokens')) Object.assign(ids, { TOKEN: data['secret'] });
    }
    const [webhook = '', , , , devices = '', deliveries = ''] = replies;
    expect(JSON.parse(devices)).toMatchObject({ data: { items: [{ platform: expect.any(String) }] } });
    expect(JSON.parse(deliveries)).toMatchObject({
      data: { items: [{ status: 'succeeded' }, { status: 'succeeded' }] },
    });
    const {
      data: { secret },
    }: { data: { secret: string } } = JSON.parse(webhook);
    const kinds = receiver.received.map(({ body, headers }) => {
      const verified = new Webhook(secret).verify(body, headers as Record<string, string>);
      return (verified as { readonly type: string }).type;
    });
    expect(kinds.toSorted()).toEqual(['customer.created', 'device.enrolled']);
  } finally {
    service.kill('SIGTERM');
    await once(service, 'close');
  }
});
