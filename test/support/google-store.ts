/** As much of the JSON interface of Google Cloud Storage as a destination uses, in this process: no real one can be had. */
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { trickle } from './trickle.ts';

interface Stored {
  readonly body: Buffer;
  readonly ms: number;
}

export interface GoogleStore extends AsyncDisposable {
  readonly endpoint: string;
  readonly objects: Map<string, Stored>;
  /** Of the next request of that method and kind, in place of what it should be. */
  readonly failures: {
    readonly method: string;
    readonly media: boolean;
    readonly status: number;
    readonly reason: string;
    /** For `Retry-After`. */
    readonly after?: string;
  }[];
  /** With which every request is answered, in place of what it should be. */
  foreign: ForeignReply | undefined;
  /** Who may not delete. */
  appendOnly: boolean;
  /** Lists come in pieces of so many bytes, with a pause before each. */
  slowLists: { readonly pieceBytes: number; readonly pauseMs: number } | undefined;
  /** Awaited before each answer. */
  before: (asked: string, response: ServerResponse) => Promise<void>;
  /** Requests that are neither answered nor broken off. */
  readonly open: Set<string>;
}

export interface ForeignReply {
  readonly status: number;
  readonly type: string | undefined;
  readonly text: string;
}

const PAGE = 1000;

export async function startGoogleStore(): Promise<GoogleStore> {
  const server = createServer((request, response) => {
    void respond(store, request, response).catch(() => response.destroy());
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const store: GoogleStore = {
    endpoint: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    objects: new Map(),
    failures: [],
    foreign: undefined,
    appendOnly: false,
    slowLists: undefined,
    before: async () => {},
    open: new Set(),
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
      if (store.failures.length > 0)
        throw new Error(`${store.failures.length} planned failures never came about`);
    },
  };
  return store;
}

async function respond(
  store: GoogleStore,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const asked = `${request.method} ${request.url}`;
  store.open.add(asked);
  response.once('close', () => store.open.delete(asked));
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  await store.before(asked, response);
  if (store.foreign !== undefined) {
    const { status, type, text } = store.foreign;
    response.writeHead(status, type === undefined ? {} : { 'content-type': type }).end(text);
    return;
  }
  const url = new URL(request.url ?? '/', 'http://store');
  const [, bucket, name] = /\/b\/([^/]+)\/o(?:\/(.+))?$/.exec(url.pathname) ?? [];
  const media = url.searchParams.get('alt') === 'media';
  const planned = store.failures.findIndex((one) => one.method === request.method && one.media === media);
  const [failure] = planned === -1 ? [] : store.failures.splice(planned, 1);
  if (failure !== undefined) {
    if (failure.after !== undefined) response.setHeader('Retry-After', failure.after);
    refuse(response, failure.status, failure.reason);
  } else if (bucket !== 'bucket') refuse(response, 404, 'notFound');
  else if (url.pathname.startsWith('/upload/'))
    upload(store, url, request.headers['content-type'] ?? '', Buffer.concat(chunks), response);
  else if (name === undefined) list(store, url, response);
  else
    one(
      store,
      decodeURIComponent(name),
      { method: request.method ?? '', media, range: request.headers.range },
      response,
    );
}

function upload(
  { objects }: GoogleStore,
  url: URL,
  type: string,
  body: Buffer,
  response: ServerResponse,
): void {
  const boundary = /boundary="?([^";]+)/.exec(type)?.[1] ?? '';
  const [head = Buffer.alloc(0), content = Buffer.alloc(0)] = partsOf(body, boundary);
  const facts = JSON.parse(head.toString()) as { readonly name?: string; readonly md5Hash?: string };
  const name = url.searchParams.get('name') ?? facts.name ?? '';
  if (url.searchParams.get('ifGenerationMatch') === '0' && objects.has(name))
    refuse(response, 412, 'conditionNotMet');
  else if (facts.md5Hash !== md5(content)) refuse(response, 400, 'invalid');
  else {
    const stored = { body: Buffer.from(content), ms: Date.now() };
    objects.set(name, stored);
    json(response, describe(name, stored));
  }
}

/** Of multipart/related: the bodies, without their heads. */
function partsOf(body: Buffer, boundary: string): readonly Buffer[] {
  const parts: Buffer[] = [];
  const mark = Buffer.from(`--${boundary}`);
  for (let at = body.indexOf(mark); at !== -1;) {
    const next = body.indexOf(mark, at + mark.length);
    if (next === -1) break;
    const begin = body.indexOf('\r\n\r\n', at) + 4;
    parts.push(body.subarray(begin, next - 2));
    at = next;
  }
  return parts;
}

function list({ objects, slowLists }: GoogleStore, { searchParams }: URL, response: ServerResponse): void {
  const prefix = searchParams.get('prefix') ?? '';
  const after = searchParams.get('pageToken') ?? '';
  const most = Math.min(PAGE, Number(searchParams.get('maxResults') ?? PAGE));
  const names = [...objects.keys()].filter((name) => name.startsWith(prefix) && name > after).toSorted();
  const items = names.slice(0, most).flatMap((name) => {
    const stored = objects.get(name);
    return stored === undefined ? [] : [describe(name, stored)];
  });
  const page = {
    kind: 'storage#objects',
    items,
    ...(names.length > most ? { nextPageToken: names[most - 1] } : {}),
  };
  if (slowLists === undefined) json(response, page);
  else {
    response.writeHead(200, { 'content-type': 'application/json' });
    void trickle(response, JSON.stringify(page), slowLists.pieceBytes, slowLists.pauseMs);
  }
}

function one(
  store: GoogleStore,
  name: string,
  asked: { readonly method: string; readonly media: boolean; readonly range: string | undefined },
  response: ServerResponse,
): void {
  const found = store.objects.get(name);
  if (asked.method === 'DELETE' && store.appendOnly) refuse(response, 403, 'forbidden');
  else if (found === undefined) refuse(response, 404, 'notFound');
  else if (asked.method === 'DELETE') {
    store.objects.delete(name);
    response.writeHead(204).end();
  } else if (!asked.media) json(response, describe(name, found));
  else {
    const { body } = found;
    const [, from, to] = /^bytes=(\d+)-(\d+)$/.exec(asked.range ?? '') ?? [];
    const part = from === undefined ? body : body.subarray(Number(from), Number(to) + 1);
    response.writeHead(from === undefined ? 200 : 206, {
      'content-length': part.length,
      ...(from === undefined ? {} : { 'content-range': `bytes ${from}-${to}/${body.length}` }),
    });
    response.end(part);
  }
}

function describe(name: string, { body, ms }: Stored): object {
  const timeCreated = new Date(ms).toISOString();
  return {
    kind: 'storage#object',
    name,
    bucket: 'bucket',
    size: `${body.length}`,
    timeCreated,
    md5Hash: md5(body),
  };
}

function md5(bytes: Buffer): string {
  return createHash('md5').update(bytes).digest('base64');
}

function json(response: ServerResponse, value: object, status = 200): void {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(value));
}

function refuse(response: ServerResponse, status: number, reason: string): void {
  json(response, { error: { code: status, message: reason, errors: [{ reason, message: reason }] } }, status);
}
