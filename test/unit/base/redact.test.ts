import { expect, test } from 'vitest';
import { createRedactor, redactText } from '../../../src/base/redact.ts';
import { newWebhookSecret } from '../../../src/partner/webhooks/secrets.ts';

const TAIL = '1f7Zk0Qp4Vd9Tg2Ls6Yw8Nb3Mx5Rc02fQWxA';

test.each([
  ['the secret of a credential', `hfs_${TAIL}`],
  ['the API key of a partner', `hfp_${TAIL}`],
  ['the key of a device', `hfd_${TAIL}`],
  ['an enrollment token', `hfe_${TAIL}`],
  ['the secret of a webhook', newWebhookSecret().reveal()],
])('%s is known by its form', (_what, secret) => {
  const [prefix] = secret.split('_');
  expect(redactText(`It said ${secret}, twice`)).toBe(`It said ${prefix}_[secret], twice`);
  expect(redactText(JSON.stringify({ given: secret }))).toBe(`{"given":"${prefix}_[secret]"}`);
});

test('the public half of a credential, and ids, are shown', () => {
  const text = `hfk_${TAIL} dev_01JD0K7W3V8X5Q2N6M4T9R1B0C`;
  expect(redactText(text)).toBe(text);
});

test('of very many secrets those that were used last stay known', () => {
  const { learn, redact } = createRedactor();
  learn('the first one that was used');
  learn('the one that is used again');
  for (let count = 0; count < 999; count += 1) {
    learn(`another secret ${count}`);
    learn('the one that is used again');
  }
  expect(redact('the one that is used again, another secret 998')).toBe('[secret], [secret]');
});
