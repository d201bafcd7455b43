/** Mail from a network that is left only through a proxy. */
import { afterEach, expect, test, vi } from 'vitest';
import { emailSender } from '../../../src/notify/email.ts';
import { startWebProxy } from '../../support/web-proxy.ts';
import { sampleNotice } from './sample-notice.ts';
import { smtpReceiver } from './smtp-receiver.ts';

afterEach(() => vi.unstubAllEnvs());

const { signal } = new AbortController();
const sender = (host: string, port: number) =>
  emailSender({ host, port, user: null, password: null, from: 'a@mail.test', to: ['b@mail.test'] });

test('it goes straight where that works, and through the proxy where it does not', async () => {
  await using proxy = await startWebProxy();
  const receiver = await smtpReceiver();
  vi.stubEnv('https_proxy', `http://localhost:${proxy.port}`);
  vi.stubEnv('no_proxy', 'x.invalid');
  await sender('127.0.0.1', receiver.port).send(sampleNotice({}), signal);
  expect(proxy.asked).toEqual([]);
  await sender('mail.invalid', receiver.port).send(sampleNotice({}), signal);
  expect(proxy.asked).toEqual([`CONNECT mail.invalid:${receiver.port}`]);
  expect(receiver.messages.length).toBe(2);
  proxy.status = 403;
  await expect(sender('mail.invalid', receiver.port).send(sampleNotice({}), signal)).rejects.toMatchObject({
    message: expect.stringContaining('neither directly nor through the proxy') as unknown,
    hint: expect.stringContaining(`localhost:${proxy.port}`) as unknown,
  });
  await receiver.close();
});
