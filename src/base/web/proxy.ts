/**
 * The proxy that the environment configures, interpreted as by curl, restic and rclone: lower-case names take
 * precedence, the scheme may be missing, and `NO_PROXY` covers subdomains and accepts networks. The result is passed to
 * Node's own agents in the form that they understand.
 */
import { BlockList, isIP } from 'node:net';
import { errnoOf } from '../errors.ts';
import { processEnvironment } from './process-environment.ts';

type Environment = Readonly<Record<string, string | undefined>>;

export interface Proxy {
  /** With user and password, if any. Only for connecting, never to be shown. */
  readonly url: URL;
  /** Host and port, for messages. */
  readonly shown: string;
  /** The variable that names it. */
  readonly variable: string;
}

/** The environment names a proxy that cannot be used. */
export class ProxyUnusable extends Error {
  override readonly name = 'ProxyUnusable';
  readonly hint: string;

  constructor(message: string, hint: string) {
    super(message);
    this.hint = hint;
  }
}

/** This machine, and the metadata services of virtual machines, are never reached through a proxy. */
const OWN = ['localhost', '127.0.0.0/8', '::1', '169.254.0.0/16', 'metadata.google.internal'];

/** @throws {ProxyUnusable} */
export function proxyFor(target: URL, env: Environment = processEnvironment): Proxy | undefined {
  const host = target.hostname.replaceAll(/^\[|\]$/g, '').toLowerCase();
  const port = target.port === '' ? (target.protocol === 'http:' ? '80' : '443') : target.port;
  const isExcepted = [...OWN, ...exceptions(env)].some((entry) => covers(entry, host, port));
  return isExcepted ? undefined : proxyOf(target.protocol, env);
}

/** The variables to pass to Node's agents as `proxyEnv`; proxies that cannot be used are left out. */
export function proxyVariables(env: Environment = processEnvironment): Record<string, string> {
  const [http, https] = [namedProxy('http:', env), namedProxy('https:', env)];
  return {
    ...(http === undefined ? {} : { http_proxy: http.url.href }),
    ...(https === undefined ? {} : { https_proxy: https.url.href }),
    no_proxy: [...OWN, ...exceptions(env)].flatMap(forNode).join(','),
  };
}

/** The proxy whose connection failed; undefined when the error did not come from a proxy. */
export function failedProxy(error: unknown, env: Environment = processEnvironment): Proxy | undefined {
  if (typeof error !== 'object' || error === null) return undefined;
  const { hostname, address, port, syscall } = error as Readonly<Record<string, unknown>>;
  if (syscall !== 'connect' && syscall !== 'getaddrinfo' && errnoOf(error) !== 'ERR_PROXY_TUNNEL')
    return undefined;
  return ['https:', 'http:']
    .map((protocol) => namedProxy(protocol, env))
    .find((proxy) => {
      if (proxy === undefined) return false;
      if (errnoOf(error) === 'ERR_PROXY_TUNNEL') return true;
      const host = proxy.url.hostname.replaceAll(/^\[|\]$/g, '');
      if (typeof hostname === 'string') return hostname === host;
      return Number(port) === portOf(proxy.url) && (isIP(host) === 0 || address === host);
    });
}

/** The configured proxy for a protocol; undefined when there is none, or it cannot be used. */
export function namedProxy(protocol: string, env: Environment = processEnvironment): Proxy | undefined {
  try {
    return proxyOf(protocol, env);
  } catch (error) {
    if (error instanceof ProxyUnusable) return undefined;
    throw error;
  }
}

function proxyOf(protocol: string, env: Environment): Proxy | undefined {
  const name = protocol === 'http:' ? 'HTTP_PROXY' : 'HTTPS_PROXY';
  for (const variable of [name.toLowerCase(), name, 'all_proxy', 'ALL_PROXY']) {
    const text = env[variable]?.trim() ?? '';
    if (text !== '') return understood(text, variable);
  }
  return undefined;
}

function understood(text: string, variable: string): Proxy {
  const url = URL.parse(/^[a-z][a-z0-9+.-]*:\/\//i.test(text) ? text : `http://${text}`);
  const way = `Write it as http://HOST:PORT or http://NAME:PASSWORD@HOST:PORT, with special characters encoded, such as %40 for "@".`;
  if (url === null || url.hostname === '')
    throw new ProxyUnusable(`The variable ${variable} is not a valid proxy`, way);
  if (url.protocol !== 'http:' && url.protocol !== 'https:')
    throw new ProxyUnusable(
      `The variable ${variable} names a ${url.protocol.slice(0, -1)} proxy, but Holdfast supports only HTTP proxies`,
      `Set HTTPS_PROXY to an HTTP proxy, or list the hosts that need no proxy in NO_PROXY ("*" for all).`,
    );
  try {
    decodeURIComponent(url.username + url.password);
  } catch {
    throw new ProxyUnusable(`The user name or password in the variable ${variable} is not valid`, way);
  }
  return { url, shown: `${url.hostname}:${portOf(url)}`, variable };
}

function portOf(url: URL): number {
  if (url.port !== '') return Number(url.port);
  return url.protocol === 'https:' ? 443 : 80;
}

function exceptions(env: Environment): readonly string[] {
  const text = (env['no_proxy'] ?? '') === '' ? env['NO_PROXY'] : env['no_proxy'];
  return (text ?? '')
    .split(/[\s,]+/)
    .map((entry) =>
      entry
        .toLowerCase()
        .replace(/^https?:\/\//, '')
        .replace(/\/$/, '')
        .replace(/^\*\./, '.'),
    )
    .map((entry) => entry.replace(/^\[(.*)\]$/, '$1'))
    .filter((entry) => entry !== '');
}

/** `.name`, `name` and `name:port` also cover subdomains; a network covers its addresses. */
function covers(entry: string, host: string, port: string): boolean {
  if (entry === '*' || entry === host) return true;
  const network = networkOf(entry);
  if (network !== undefined) {
    const family = isIP(host);
    return family !== 0 && network.check(host, family === 6 ? 'ipv6' : 'ipv4');
  }
  const [, name = entry, wanted = port] = /^([^:]*):(\d+)$/.exec(entry) ?? [];
  const bare = name.replace(/^\./, '');
  return wanted === port && (host === bare || host.endsWith(`.${bare}`));
}

function networkOf(entry: string): BlockList | undefined {
  const [, address = '', bits = ''] = /^([\d.]+|[\da-f:.]+)\/(\d{1,3})$/.exec(entry) ?? [];
  const family = isIP(address);
  if (family === 0 || Number(bits) > (family === 6 ? 128 : 32)) return undefined;
  const network = new BlockList();
  network.addSubnet(address, Number(bits), family === 6 ? 'ipv6' : 'ipv4');
  return network;
}

/** Translates an exception for Node, which understands names, subdomains by a leading dot, and ranges of addresses. */
function forNode(entry: string): readonly string[] {
  const [, address = '', bits = ''] = /^([\d.]+)\/(\d{1,2})$/.exec(entry) ?? [];
  if (isIP(address) === 4 && Number(bits) <= 32) {
    const size = 2 ** (32 - Number(bits));
    const first = Math.floor(numberOf(address) / size) * size;
    return [`${addressOf(first)}-${addressOf(first + size - 1)}`];
  }
  const isName = entry !== '*' && !entry.startsWith('.') && !entry.includes(':') && isIP(entry) === 0;
  return isName ? [entry, `.${entry}`] : [entry];
}

function numberOf(address: string): number {
  return address.split('.').reduce((sum, part) => sum * 256 + Number(part), 0);
}

function addressOf(number: number): string {
  return [24, 16, 8, 0].map((shift) => Math.floor(number / 2 ** shift) % 256).join('.');
}
