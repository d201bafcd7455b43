/** The page of a real daemon, signed in, as a browser asks it; each reply has to be what its schema says. */
import { Ajv, type ValidateFunction } from 'ajv';
import { expect } from 'vitest';
import type { Daemon } from '../../src/daemon/daemon-options.ts';

export interface PageReply<T> {
  readonly status: number;
  readonly headers: Headers;
  readonly data: T;
  readonly error: { readonly code: string; readonly message: string; readonly details: object } | undefined;
}

export interface DaemonPage {
  /** `schema` is of the data. */
  ask<T>(method: string, path: string, schema: object, body?: unknown): Promise<PageReply<T>>;
  /** Without a schema: for replies that are errors. */
  refused(method: string, path: string, body?: unknown): Promise<PageReply<unknown>>;
  /** What is downloaded as it is. */
  text(path: string): Promise<{ readonly headers: Headers; readonly text: string }>;
  /** As it is, for what is no JSON or takes headers of its own. */
  fetch(method: string, path: string, request?: PageRequest): Promise<Response>;
}

export interface PageRequest {
  /** Sent as JSON. */
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
  readonly signal?: AbortSignal;
}

export async function openPage(daemon: Daemon): Promise<DaemonPage> {
  const { origin, hash } = new URL(daemon.pageAddress(null).address);
  const code = new URLSearchParams(hash.slice(1)).get('code');
  const opened = await fetch(`${origin}/internal/v1/session`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', origin },
    body: JSON.stringify({ code }),
  });
  expect(opened.status).toBe(200);
  const cookie = String(opened.headers.get('set-cookie')).split(';')[0] ?? '';
  const send: DaemonPage['fetch'] = async (method, path, { body, headers, signal } = {}) =>
    await fetch(`${origin}/internal/v1${path}`, {
      method,
      headers: {
        cookie,
        origin,
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      ...(signal === undefined ? {} : { signal }),
    });
  const refused = async (method: string, path: string, body?: unknown): Promise<PageReply<unknown>> => {
    const reply = await send(method, path, { body });
    const { data, error } = (await reply.json()) as Pick<PageReply<unknown>, 'data' | 'error'>;
    return { status: reply.status, headers: reply.headers, data, error };
  };
  return {
    refused,
    async text(path) {
      const reply = await fetch(`${origin}/internal/v1${path}`, { headers: { cookie } });
      expect(reply.status).toBe(200);
      return { headers: reply.headers, text: await reply.text() };
    },
    fetch: send,
    async ask<T>(method: string, path: string, schema: object, body?: unknown) {
      const reply = await refused(method, path, body);
      expect(reply.error).toBeUndefined();
      requireSchema(schema, reply.data);
      return reply as PageReply<T>;
    },
  };
}

const schemas = new Ajv({ allErrors: true, strict: false });
const checks = new WeakMap<object, ValidateFunction>();

/** Fails unless the value is what the schema says, and no object in it has anything else. */
export function requireSchema(schema: object, value: unknown): void {
  const check = checks.get(schema) ?? schemas.compile(closed(schema) as object);
  checks.set(schema, check);
  expect(check(value) ? [] : check.errors).toEqual([]);
}

/** As the schema, with objects that have nothing but what it names. */
function closed(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(closed);
  if (typeof schema !== 'object' || schema === null) return schema;
  const parts = Object.fromEntries(Object.entries(schema).map(([name, part]) => [name, closed(part)]));
  return 'properties' in schema ? { additionalProperties: false, ...parts } : parts;
}
