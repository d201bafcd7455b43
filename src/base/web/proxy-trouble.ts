/** Explains failures that the proxy caused, and not the server behind it. */
import { errnoOf } from '../errors.ts';
import { failedProxy, namedProxy, type Proxy } from './proxy.ts';

export interface ProxyTrouble {
  readonly what: string;
  readonly hint: string;
  /** The problem may pass without intervention. */
  readonly passes: boolean;
}

/** Explains the error or one of its causes; undefined where no proxy is to blame. */
export function proxyTroubleOf(error: unknown): ProxyTrouble | undefined {
  let found: ProxyTrouble | undefined;
  for (let at: unknown = error, depth = 0; at instanceof Error && depth < 5; at = at.cause, depth += 1) {
    const each: readonly unknown[] = at instanceof AggregateError ? [at, ...(at.errors as unknown[])] : [at];
    for (const one of each) {
      const proxy = failedProxy(one);
      if (proxy === undefined) continue;
      const status = statusOf(one);
      if (status !== undefined) return proxyTrouble(status, proxy);
      // A cause may have the status, as libraries keep only a part of it in their own errors.
      found ??= proxyTrouble(errnoOf(one) === 'ERR_PROXY_TUNNEL' ? 'ended' : 'away', proxy);
    }
  }
  return found;
}

function statusOf(error: unknown): number | undefined {
  const { statusCode } = error as { readonly statusCode?: unknown };
  return typeof statusCode === 'number' && Number.isInteger(statusCode) ? statusCode : undefined;
}

/** @param status the proxy's answer; `away` when it cannot be reached, `ended` when it closes the connection */
export function proxyTrouble(status: number | 'away' | 'ended', proxy?: Proxy): ProxyTrouble {
  const who = proxy === undefined ? 'the proxy' : `the proxy ${proxy.shown}`;
  const named = proxy === undefined ? 'The environment names it' : `The variable ${proxy.variable} names it`;
  const around = 'or add the host to NO_PROXY if it needs no proxy';
  if (status === 407)
    return {
      what: `${who} asks for a user name and password, or rejected those it was given`,
      hint: `${named}: write them into its address, such as http://NAME:PASSWORD@HOST:PORT.`,
      passes: false,
    };
  if (status === 'away')
    return { what: `${who} cannot be reached`, hint: `${named}. Check it, ${around}.`, passes: true };
  if (status === 'ended')
    return { what: `${who} closed the connection`, hint: `${named}. Check it, ${around}.`, passes: true };
  if (status >= 500)
    return {
      what: `${who} cannot reach it (${status})`,
      hint: `${named}. Check the address, and that the proxy allows it, ${around}.`,
      passes: true,
    };
  return {
    what: `${who} refuses to connect to it (${status})`,
    hint: `${named}. Ask whoever runs it to allow this address, ${around}.`,
    passes: false,
  };
}

/** A sentence to append to a hint about an unreachable server; empty where no proxy is configured. */
export function hintOfProxy(): string {
  const proxy = namedProxy('https:') ?? namedProxy('http:');
  return proxy === undefined
    ? ''
    : ` The variable ${proxy.variable} names the proxy ${proxy.shown}: check that as well.`;
}
