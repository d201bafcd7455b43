import { expect, test } from 'vitest';
import { ProxyUnusable, proxyFor, proxyVariables } from '../../../src/base/web/proxy.ts';

const through = (target: string, env: Readonly<Record<string, string>>): string | undefined =>
  proxyFor(new URL(target), env)?.url.href;

const HTTPS = { HTTPS_PROXY: 'http://proxy:3128' };

test.each([
  [{ HTTPS_PROXY: 'http://proxy:3128' }, 'http://proxy:3128/'],
  [{ https_proxy: 'http://small:1', HTTPS_PROXY: 'http://large:1' }, 'http://small:1/'],
  [{ HTTPS_PROXY: 'proxy:3128' }, 'http://proxy:3128/'],
  [{ HTTPS_PROXY: 'http://me:p%40ss@proxy:3128' }, 'http://me:p%40ss@proxy:3128/'],
  [{ ALL_PROXY: 'http://all:1' }, 'http://all:1/'],
  [{ HTTP_PROXY: 'http://plain:1' }, undefined],
  [{ HTTPS_PROXY: '' }, undefined],
])('%j leads to an encrypted server by %s', (env, proxy) => {
  expect(through('https://store.example', env)).toBe(proxy);
});

test.each([
  ['store.example', 'https://store.example', false],
  ['example', 'https://store.example', false],
  ['.example', 'https://store.example', false],
  ['*.example', 'https://store.example', false],
  ['ample', 'https://store.example', true],
  ['*', 'https://store.example', false],
  ['store.example:443', 'https://store.example', false],
  ['store.example:9000', 'https://store.example', true],
  ['10.0.0.0/8, other', 'https://10.1.2.3', false],
  ['10.0.0.0/8', 'https://11.1.2.3', true],
  ['fd00::/8', 'https://[fd00::1]', false],
  ['other another', 'https://store.example', true],
  ['', 'https://127.0.0.1:9000', false],
  ['', 'https://localhost:9000', false],
  ['', 'https://169.254.169.254', false],
])('NO_PROXY=%s and %s: through the proxy %s', (exceptions, target, expected) => {
  for (const name of ['NO_PROXY', 'no_proxy'])
    expect(through(target, { ...HTTPS, [name]: exceptions }) !== undefined).toBe(expected);
});

test.each(['socks5://proxy:1080', 'ftp://proxy', 'http://', 'http://%zz@proxy:1'])(
  'a proxy that cannot be gone through is refused and not passed over: %s',
  (text) => {
    expect(() => proxyFor(new URL('https://store.example'), { ALL_PROXY: text })).toThrow(ProxyUnusable);
    expect(through('https://localhost', { ALL_PROXY: text })).toBeUndefined();
    expect(through('https://store.example', { ALL_PROXY: text, NO_PROXY: '*' })).toBeUndefined();
  },
);

test('networks are told to the agents of Node.js as ranges, and names with what lies below them', () => {
  expect(proxyVariables({ ...HTTPS, NO_PROXY: '10.1.0.0/16,corp.example' })).toEqual({
    https_proxy: 'http://proxy:3128/',
    no_proxy:
      'localhost,.localhost,127.0.0.0-127.255.255.255,::1,169.254.0.0-169.254.255.255,metadata.google.internal,.metadata.google.internal,10.1.0.0-10.1.255.255,corp.example,.corp.example',
  });
});
