/**
 * Line P06 of the security checklist: whatever a partner gives as the URL of a webhook, and whatever its name leads to,
 * the service connects to nothing but the public internet. Connections are counted below every library, and listened for.
 */
import { once } from 'node:events';
import { createServer, type AddressInfo, type Server } from 'node:net';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { systemClock } from '../../src/base/clock.ts';
import { errnoOf } from '../../src/base/errors.ts';
import { attemptDelivery, type AttemptResult } from '../../src/partner/webhooks/attempt.ts';
import { isPublicAddress } from '../../src/partner/webhooks/target.ts';
import type { Resolve } from '../../src/partner/webhooks/resolver.ts';
import { newWebhookSecret } from '../../src/partner/webhooks/secrets.ts';
import { countConnections, type NetworkCount } from '../support/count-connections.ts';
import { makeCertificates } from '../support/test-certificates.ts';
import { startWebhookReceiver } from '../support/webhook-receiver.ts';

/** Takes every connection to this machine at its port, and at 443 where tests may listen there. */
const listeners: Server[] = [];
let port: number;
let accepted = 0;

async function listen(host: string, at: number): Promise<number> {
  const server = createServer((socket) => {
    accepted += 1;
    socket.destroy();
  });
  server.listen(at, host);
  await once(server, 'listening');
  listeners.push(server);
  return (server.address() as AddressInfo).port;
}

beforeAll(async () => {
  port = await listen('0.0.0.0', 0);
  for (const [host, at] of [
    ['::1', port],
    ['0.0.0.0', 443],
    ['::1', 443],
  ] as const) {
    await listen(host, at).catch((error: unknown) => {
      expect(['EACCES', 'EADDRINUSE', 'EADDRNOTAVAIL', 'EAFNOSUPPORT']).toContain(errnoOf(error));
    });
  }
});
afterAll(() => {
  for (const server of listeners) server.close();
});

let network: NetworkCount;
beforeEach(() => {
  network = countConnections();
});
afterEach(() => {
  network[Symbol.dispose]();
});

const { signal } = new AbortController();
const event = { id: 'evt_01JD0K7W3V8X5Q2N6M4T9R1B0C', kind: 'webhook.test', at: 0, data: {} };

async function attempt(url: string, resolve: Resolve, timeoutMs = 20_000): Promise<AttemptResult> {
  const endpoint = { url: url.replace('PORT', String(port)), secrets: [newWebhookSecret()] };
  return await attemptDelivery(
    event,
    endpoint,
    { clock: systemClock, testTargets: [], resolve, timeoutMs },
    signal,
  );
}

const neverAsked: Resolve = async () => {
  await Promise.reject(new Error('the name was looked up'));
  return [];
};

const URLS: readonly (readonly [url: string, what: string])[] = [
  ['http://hooks.receiver.example/', 'not encrypted'],
  ['http://hooks.receiver.example:443/', 'not encrypted, at the port for it'],
  ['ftp://hooks.receiver.example/', 'another protocol'],
  ['file:///etc/passwd', 'a file'],
  ['gopher://127.0.0.1:PORT/', 'another protocol'],
  ['javascript:alert(1)', 'a script'],
  ['//hooks.receiver.example/', 'no protocol'],
  ['hooks.receiver.example', 'no URL'],
  ['https:hooks.receiver.example/', 'without slashes'],
  ['https:/hooks.receiver.example/', 'with one slash'],
  ['https:///hooks.receiver.example/', 'with three slashes'],
  ['https://', 'without a host'],
  ['https:\\\\hooks.receiver.example\\', 'with backslashes'],
  ['https://hooks.receiver.example\\@127.0.0.1/', 'with a backslash before the host'],
  ['https://127.0.0.1\\.hooks.receiver.example/', 'with a backslash in the host'],
  [' https://hooks.receiver.example/', 'with a space before it'],
  ['https://hooks.receiver.example/ ', 'with a space after it'],
  ['https://hooks.receiver\t.example/', 'with a tab'],
  ['https://127.0.0\n.1/', 'with a line break'],
  ['https://hooks.receiver.example/\r\nHost: localhost', 'with a header in it'],
  ['https://hooks.receiver.example/\0', 'with a NUL'],
  ['https://hooks\u200b.receiver.example/', 'with an invisible character'],
  ['https://hooks.receiver.example:PORT/', 'at another port'],
  ['https://hooks.receiver.example:80/', 'at the port for what is not encrypted'],
  ['https://hooks.receiver.example:22/', 'at the port of another service'],
  ['https://hooks.receiver.example:0/', 'at port 0'],
  ['https://hooks.receiver.example:65979/', 'at a port that overflows to 443'],
  ['https://hooks.receiver.example:8443/', 'at the other usual port'],
  ['https://user@hooks.receiver.example/', 'with a user'],
  ['https://user:word@hooks.receiver.example/', 'with a password'],
  ['https://@hooks.receiver.example/', 'with an empty user'],
  ['https://:@hooks.receiver.example/', 'with an empty password'],
  ['https://hooks.receiver.example@127.0.0.1/', 'with a user that looks like the host'],
  ['https://hooks.receiver.example%40127.0.0.1/', 'with an encoded at sign'],
  ['https://hooks.receiver.example/#', 'with an empty fragment'],
  ['https://hooks.receiver.example/#@127.0.0.1/', 'with a fragment'],
  ['https://hooks.receiver.example#.127.0.0.1/', 'with a fragment after the host'],
  ['https://127.0.0.1/', 'loopback'],
  ['https://127.0.0.1:PORT/', 'loopback, where somebody listens'],
  ['https://127.0.0.1./', 'loopback with a full stop'],
  ['https://127.1/', 'loopback, shortened'],
  ['https://127.0.1:PORT/', 'loopback, shortened'],
  ['https://0177.0.0.1/', 'loopback in octal'],
  ['https://0177.0.0.01:PORT/', 'loopback in octal'],
  ['https://017700000001/', 'loopback as one octal number'],
  ['https://0x7f.0.0.1/', 'loopback in hexadecimal'],
  ['https://0x7f000001:PORT/', 'loopback as one hexadecimal number'],
  ['https://0X7F.0x0.0x0.0x1/', 'loopback in capital hexadecimal'],
  ['https://2130706433/', 'loopback as one number'],
  ['https://2130706433:PORT/', 'loopback as one number, where somebody listens'],
  ['https://127.0x0.00.1/', 'loopback in mixed notation'],
  ['https://127.0.0.1%2f@hooks.receiver.example/', 'loopback before an encoded slash'],
  ['https://%31%32%37.0.0.1/', 'loopback with encoded digits'],
  ['https://１２７.０.０.１/', 'loopback in wide digits'],
  ['https://①②⑦.⓪.⓪.①/', 'loopback in circled digits'],
  ['https://127。0。0。1/', 'loopback with ideographic full stops'],
  ['https://0/', 'this machine as 0'],
  ['https://0.0.0.0:PORT/', 'this machine as 0.0.0.0'],
  ['https://10.0.0.1/', 'a private address'],
  ['https://0xa9fea9fe/', 'metadata of clouds in hexadecimal'],
  ['https://169.254.169.254/latest/meta-data/', 'metadata of clouds'],
  ['https://93.184.215.14/', 'a public address, which is no name either'],
  ['https://[::1]:PORT/', 'loopback in IPv6'],
  ['https://[::]:PORT/', 'this machine in IPv6'],
  ['https://[0:0:0:0:0:0:0:1]/', 'loopback in IPv6, written out'],
  ['https://[::ffff:127.0.0.1]:PORT/', 'loopback, mapped'],
  ['https://[::ffff:7f00:1]:PORT/', 'loopback, mapped in hexadecimal'],
  ['https://[::7f00:1]/', 'loopback, compatible'],
  ['https://[64:ff9b::7f00:1]/', 'loopback through NAT64'],
  ['https://[fe80::1%25eth0]/', 'link-local with a zone'],
  ['https://[fd00:ec2::254]/', 'metadata of clouds in IPv6'],
  ['https://[2606:4700:4700::1111]/', 'a public IPv6 address'],
  ['https://localhost/', 'localhost'],
  ['https://localhost:PORT/', 'localhost, where somebody listens'],
  ['https://LOCALHOST./', 'localhost with a full stop'],
  ['https://ｌocalhost/', 'localhost in wide letters'],
  ['https://a.localhost/', 'below localhost'],
  ['https://localhost.localdomain:PORT/', 'localhost by its long name'],
  ['https://intranet/', 'a name without a domain'],
  ['https://printer.local/', 'a name of the local network'],
  ['https://metadata.google.internal/', 'metadata of clouds by name'],
  ['https://router.home.arpa/', 'a name of a home'],
  ['https://abcdefghijklmnop.onion/', 'a hidden service'],
  ['https://hooks.receiver.example./', 'a name with the full stop of the root'],
  ['https://hooks..example/', 'a name with an empty part'],
  ['https://-hooks.receiver.example/', 'a name that begins with a hyphen'],
  ['https://hooks_a.receiver.example/', 'a name that certificates do not have'],
  ['https://*.receiver.example/', 'a wildcard'],
  [`https://${'a'.repeat(64)}.example/`, 'a part of a name that is too long'],
  [`https://${'abcdefg.'.repeat(32)}example/`, 'a name that is too long'],
  [`https://hooks.receiver.example/${'a'.repeat(2100)}`, 'a URL that is too long'],
];

/** What names may lead to; each is refused alone and behind a public address. */
const ADDRESSES: readonly (readonly [address: string, what: string])[] = [
  ['0.0.0.0', 'this network'],
  ['0.1.2.3', 'this network'],
  ['10.0.0.1', 'private'],
  ['10.255.255.255', 'private, the last'],
  ['100.64.0.1', 'shared behind NAT of carriers'],
  ['100.100.100.200', 'metadata of Alibaba'],
  ['100.127.255.255', 'shared behind NAT of carriers, the last'],
  ['127.0.0.1', 'loopback'],
  ['127.255.255.254', 'loopback, the last'],
  ['168.63.129.16', 'the platform of Azure'],
  ['169.254.0.1', 'link-local'],
  ['169.254.169.254', 'metadata of AWS, Google, Azure and others'],
  ['169.254.170.2', 'credentials of containers'],
  ['172.16.0.1', 'private'],
  ['172.31.255.255', 'private, the last'],
  ['192.0.0.8', 'protocol assignments'],
  ['192.0.0.192', 'metadata of Oracle'],
  ['192.0.2.1', 'documentation'],
  ['192.31.196.1', 'AS112'],
  ['192.52.193.1', 'AMT'],
  ['192.88.99.1', '6to4 relays'],
  ['192.168.0.1', 'private'],
  ['192.175.48.1', 'AS112'],
  ['198.18.0.1', 'benchmarking'],
  ['198.19.255.255', 'benchmarking, the last'],
  ['198.51.100.1', 'documentation'],
  ['203.0.113.1', 'documentation'],
  ['224.0.0.1', 'multicast'],
  ['239.255.255.255', 'multicast, the last'],
  ['240.0.0.1', 'reserved'],
  ['255.255.255.255', 'broadcast'],
  ['::', 'unspecified'],
  ['::1', 'loopback'],
  ['::2', 'compatible with 0.0.0.2'],
  ['::127.0.0.1', 'compatible with loopback'],
  ['::93.184.215.14', 'compatible with a public address'],
  ['::ffff:127.0.0.1', 'mapped loopback'],
  ['::ffff:7f00:1', 'mapped loopback in hexadecimal'],
  ['::ffff:10.0.0.1', 'mapped private'],
  ['::ffff:93.184.215.14', 'mapped public'],
  ['::ffff:0:7f00:1', 'translated loopback'],
  ['64:ff9b::7f00:1', 'loopback through NAT64'],
  ['64:ff9b::5db8:d70e', 'a public address through NAT64'],
  ['64:ff9b:1::1', 'local NAT64'],
  ['64:ff9b:1:ffff::a9fe:a9fe', 'metadata through local NAT64'],
  ['100::1', 'discarded'],
  ['100:0:0:1::1', 'dummy prefix'],
  ['200::1', 'not given out'],
  ['2001::1', 'Teredo'],
  ['2001:0:4136:e378:8000:63bf:3fff:fdd2', 'Teredo with a server'],
  ['2001:1::1', 'port control'],
  ['2001:2::1', 'benchmarking'],
  ['2001:3::1', 'AMT'],
  ['2001:4:112::1', 'AS112'],
  ['2001:10::1', 'ORCHID'],
  ['2001:20::1', 'ORCHID, second version'],
  ['2001:30::1', 'tags of drones'],
  ['2001:db8::1', 'documentation'],
  ['2002:7f00:1::1', '6to4 of loopback'],
  ['2002:a00:1::1', '6to4 of a private address'],
  ['2002:5db8:d70e::1', '6to4 of a public address'],
  ['2620:4f:8000::1', 'AS112'],
  ['3fff::1', 'documentation'],
  ['4000::1', 'not given out'],
  ['5f00::1', 'segment routing'],
  ['8000::1', 'not given out'],
  ['fc00::1', 'unique local'],
  ['fd00:ec2::254', 'metadata of AWS'],
  ['fd20:ce::254', 'metadata of Google'],
  ['fdff:ffff:ffff:ffff:ffff:ffff:ffff:ffff', 'unique local, the last'],
  ['fe80::1', 'link-local'],
  ['fe80::a9fe:a9fe', 'metadata, link-local'],
  ['febf::1', 'link-local, the last'],
  ['fec0::1', 'site-local'],
  ['ff02::1', 'multicast'],
  ['ff0e::1', 'multicast of the whole internet'],
  ['fe80::1%lo', 'link-local with a zone'],
  ['2606:4700:4700::1111%lo', 'with a zone'],
  ['0177.0.0.1', 'octal'],
  ['0x7f000001', 'hexadecimal'],
  ['2130706433', 'one number'],
  ['127.1', 'shortened'],
  ['hooks.receiver.example', 'a name again'],
  ['', 'nothing'],
];

/** Given out to nobody so far, so that a test that connects to it disturbs nobody. */
const PUBLIC = '2d00::1';

describe('P06: no connection is made', () => {
  test.each(URLS)('to %j: %s', async (url) => {
    expect(await attempt(url, neverAsked)).toMatchObject({
      outcome: 'failed',
      reason: 'invalid_url',
      status: null,
    });
    expect([network.connections(), network.lookups(), accepted]).toEqual([0, 0, 0]);
  });

  test.each(ADDRESSES)('to a name that leads to %j: %s', async (address) => {
    const url = 'https://hooks.receiver.example/';
    for (const addresses of [[address], [PUBLIC, address], [address, PUBLIC]]) {
      expect(await attempt(url, async () => addresses)).toMatchObject({
        outcome: 'failed',
        reason: 'not_public',
        error: 'hooks.receiver.example leads to an address that is not on the public internet',
      });
    }
    expect([network.connections(), network.lookups(), accepted]).toEqual([0, 0, 0]);
  });

  test('to the ninth address of a name either, though eight are tried at most', async () => {
    const many = [...Array.from({ length: 8 }, (_, index) => `2d00::${index + 1}`), '127.0.0.1'];
    expect(await attempt('https://hooks.receiver.example/', async () => many)).toMatchObject({
      reason: 'not_public',
    });
    expect([network.connections(), accepted]).toEqual([0, 0]);
  });
});

describe('P06: a name that leads elsewhere from one moment to the next', () => {
  test('is looked up once for each attempt, and the connection goes where that said', async () => {
    const answers = [[PUBLIC], ['127.0.0.1'], ['::1', PUBLIC], [PUBLIC]];
    let asked = 0;
    const flipping: Resolve = async () => {
      asked += 1;
      return answers[(asked - 1) % answers.length] ?? [];
    };
    const connections: number[] = [];
    const reasons: string[] = [];
    for (const _ of answers) {
      const before = network.connections();
      const result = await attempt('https://flip.receiver.example/', flipping, 500);
      reasons.push(result.outcome === 'failed' ? result.reason : result.outcome);
      connections.push(network.connections() - before);
    }
    // The public address cannot be reached: nobody has it.
    expect(reasons.map((reason) => reason.replace('timeout', 'unreachable'))).toEqual([
      'unreachable',
      'not_public',
      'not_public',
      'unreachable',
    ]);
    expect(connections).toEqual([1, 0, 0, 1]);
    expect([asked, network.lookups(), accepted]).toEqual([4, 0, 0]);
  });
});

describe('the counts', () => {
  test('see a connection and a lookup: those of a receiver of tests, by its host and port alone', async () => {
    const { authority, good } = await makeCertificates();
    await using receiver = await startWebhookReceiver(good);
    const testTargets = [{ host: 'localhost', port: receiver.port, authority }];
    const to = async (url: string): Promise<AttemptResult> =>
      await attemptDelivery(
        event,
        { url, secrets: [newWebhookSecret()] },
        { clock: systemClock, testTargets },
        signal,
      );
    expect(await to(`https://localhost:${receiver.port}/`)).toMatchObject({ outcome: 'delivered' });
    expect(network.connections()).toBeGreaterThanOrEqual(1);
    expect(network.lookups()).toBe(1);

    const before = network.connections();
    expect(await to(`https://127.0.0.1:${receiver.port}/`)).toMatchObject({ reason: 'invalid_url' });
    expect(await to(`https://localhost:${port}/`)).toMatchObject({ reason: 'invalid_url' });
    expect(network.connections()).toBe(before);
    expect(accepted).toBe(0);
  });

  test('are over more than 90 targets, each different', () => {
    const different = [URLS, ADDRESSES].map((list) => new Set(list.map(([target]) => target)).size);
    expect(different).toEqual([URLS.length, ADDRESSES.length]);
    expect(URLS.length + ADDRESSES.length).toBeGreaterThanOrEqual(90);
  });
});

test.each([
  '1.1.1.1',
  '8.8.8.8',
  '93.184.215.14',
  '100.63.255.255',
  '100.128.0.0',
  '172.15.255.255',
  '172.32.0.0',
  '168.63.129.15',
  '168.63.129.17',
  '169.253.255.255',
  '192.0.1.1',
  '198.17.255.255',
  '198.20.0.0',
  '223.255.255.255',
  '2001:200::1',
  '2001:4860:4860::8888',
  '2003::1',
  '2606:4700:4700::1111',
  '2a00:1450:4001::1',
  PUBLIC,
])('%s is on the public internet', (address) => {
  expect(isPublicAddress(address)).toBe(true);
});
