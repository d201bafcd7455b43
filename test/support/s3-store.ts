/** An S3 store in this process that fails as planned: for what no real server does when it is asked to. */
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { trickle } from './trickle.ts';

export interface StoreRequest {
  readonly method: string;
  /** Without the bucket. */
  readonly key: string;
  readonly query: URLSearchParams;
  readonly headers: IncomingMessage['headers'];
  readonly body: Buffer;
}

/** What the store does in place of, or after, what it should. */
export type StoreFault =
  | { readonly status: number; readonly code?: string; readonly headers?: Readonly<Record<string, string>> }
  /** A page of something else, with success. */
  | { readonly page: string }
  /** What a proxy says that has no store to ask. */
  | { readonly status: number; readonly text: string; readonly type?: string }
  /** Does as it should, and closes the connection instead of answering. */
  | 'lose-reply'
  /** Never answers. */
  | 'hang'
  /** Answers and stops in the middle of the body. */
  | 'hang-in-body'
  /** Says a length and closes the connection before. */
  | 'cut-short'
  /** The whole object in place of a part. */
  | 'whole'
  /** The part that was asked for, with status 200, as from a proxy that takes it from the whole object. */
  | 'part-as-200'
  /** The part after the one that was asked for. */
  | 'other-part'
  /** Says that it has taken the object, and has nothing. */
  | 'drop'
  /** Says that it has taken the object, and has half of it. */
  | 'keep-half'
  /** Takes the object of another writer in its place before it answers, where it knows no conditions. */
  | { readonly overtakenBy: Buffer }
  /** Changes the answer of a list. */
  | { readonly list: (page: ListPage) => ListPage }
  /** Gives the answer of a list in pieces of so many bytes, with a pause before each. */
  | { readonly pieceBytes: number; readonly pauseMs: number };

export interface ListPage {
  readonly keys: readonly string[];
  readonly count: number | undefined;
  readonly next: string | undefined;
  readonly truncated: boolean;
}

export interface S3Store extends AsyncDisposable {
  readonly endpoint: string;
  readonly objects: Map<string, { readonly body: Buffer; readonly ms: number }>;
  readonly requests: StoreRequest[];
  /** Hits the next `times` requests that fit. The store tells at its end of faults that never came about. */
  plan(fits: (request: StoreRequest) => boolean, fault: StoreFault, times?: number): void;
  /** For faults of a time, which hit whatever came in it. */
  forgetPlans(): void;
  /** Ignores that a put is to create only. */
  ignoresConditions: boolean;
  /** Looks whether there is an object, and stores it later: those that come at the same moment all win. */
  looksFirst: boolean;
  /** Who may not delete. */
  appendOnly: boolean;
  /** Says of what is not there no more than "404", as a few stores do. */
  saysNoReason: boolean;
  /** Numbers its answers, as Amazon and most others do. */
  numbersAnswers: boolean;
  /** Who may not change how long an object is protected. */
  refusesRetention: boolean;
  /** The bucket protects what is stored by itself, and so wants a checksum of each object. */
  protectsByDefault: boolean;
  /** Hides what is deleted and goes on keeping it. */
  keepsVersions: boolean;
  /** Refuses to delete what it protects, as stores do that keep no versions: in words of its own. */
  protects: string | undefined;
}

interface Planned {
  readonly fits: (request: StoreRequest) => boolean;
  readonly fault: StoreFault;
  left: number;
}

const PAGE = 1000;

export async function startS3Store(): Promise<S3Store> {
  const plans: Planned[] = [];
  const objects: S3Store['objects'] = new Map();
  const requests: StoreRequest[] = [];
  const server = createServer((request, response) => {
    void (async () => {
      const chunks: Buffer[] = [];
      for await (const chunk of request) chunks.push(chunk as Buffer);
      const url = new URL(request.url ?? '/', 'http://store');
      const asked: StoreRequest = {
        method: request.method ?? '',
        key: decodeURIComponent(url.pathname.replace(/^\/[^/]*\/?/, '')),
        query: url.searchParams,
        headers: request.headers,
        body: Buffer.concat(chunks),
      };
      requests.push(asked);
      const plan = plans.find(({ fits, left }) => left > 0 && fits(asked));
      if (plan !== undefined) plan.left -= 1;
      answer(store, asked, response, plan?.fault);
    })().catch(() => response.destroy());
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const store: S3Store = {
    endpoint: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    objects,
    requests,
    ignoresConditions: false,
    looksFirst: false,
    appendOnly: false,
    refusesRetention: false,
    protectsByDefault: false,
    keepsVersions: false,
    protects: undefined,
    saysNoReason: false,
    numbersAnswers: true,
    plan(fits, fault, times = 1) {
      plans.push({ fits, fault, left: times });
    },
    forgetPlans() {
      plans.length = 0;
    },
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
      const left = plans.filter((plan) => plan.left > 0);
      if (left.length > 0)
        throw new Error(`${left.length} planned faults never came about: ${JSON.stringify(left)}`);
    },
  };
  return store;
}

function answer(
  store: S3Store,
  asked: StoreRequest,
  response: ServerResponse,
  fault: StoreFault | undefined,
): void {
  if (fault === 'hang') return;
  if (typeof fault === 'object' && 'text' in fault) {
    const { status, text, type = 'text/plain; charset=utf-8' } = fault;
    response.writeHead(status, text === '' ? {} : { 'content-type': type });
    response.end(asked.method === 'HEAD' ? '' : text);
    return;
  }
  if (store.numbersAnswers) response.setHeader('x-amz-request-id', `${store.requests.length}`);
  if (typeof fault === 'object' && 'status' in fault) {
    refuse(response, fault.status, fault.code ?? 'InternalError', fault.headers);
    return;
  }
  if (typeof fault === 'object' && 'page' in fault) {
    response.writeHead(200, { 'content-type': 'text/html' }).end(fault.page);
    return;
  }
  if (asked.key === '' && asked.method === 'GET') {
    list(store, asked, response, fault);
    return;
  }
  // Who asks shows in the requests; nothing is protected here.
  if (asked.method === 'PUT' && asked.query.has('retention')) {
    if (store.refusesRetention) refuse(response, 403, 'AccessDenied');
    else if (store.objects.has(asked.key)) response.writeHead(200).end();
    else refuse(response, 404, 'NoSuchKey');
    return;
  }
  switch (asked.method) {
    case 'PUT':
      put(store, asked, response, fault);
      return;
    case 'DELETE':
      if (store.appendOnly) refuse(response, 403, 'AccessDenied');
      else if (store.protects !== undefined && store.objects.has(asked.key))
        refuse(response, 403, 'AccessDenied', {}, store.protects);
      else if (store.keepsVersions && store.objects.delete(asked.key))
        response.writeHead(204, { 'x-amz-delete-marker': 'true', 'x-amz-version-id': 'v2' }).end();
      else if (!store.objects.delete(asked.key) && store.saysNoReason) response.writeHead(404).end();
      else response.writeHead(204).end();
      return;
    default:
      read(store, asked, response, fault);
  }
}

function put(
  store: S3Store,
  asked: StoreRequest,
  response: ServerResponse,
  fault: StoreFault | undefined,
): void {
  const { body, headers, key } = asked;
  const isSummed = headers['content-md5'] !== undefined || headers['x-amz-checksum-sha256'] !== undefined;
  if (store.protectsByDefault && !isSummed) {
    refuse(response, 400, 'InvalidRequest');
    return;
  }
  if (headers['if-none-match'] === '*' && !store.ignoresConditions && store.objects.has(key)) {
    refuse(response, 412, 'PreconditionFailed');
    return;
  }
  if (headers['x-amz-content-sha256'] !== createHash('sha256').update(body).digest('hex')) {
    refuse(response, 400, 'XAmzContentSHA256Mismatch');
    return;
  }
  const keep = (): void => {
    if (fault !== 'drop') {
      const kept = fault === 'keep-half' ? body.subarray(0, body.length / 2) : body;
      const isOvertaken = typeof fault === 'object' && 'overtakenBy' in fault;
      store.objects.set(key, { body: isOvertaken ? fault.overtakenBy : kept, ms: Date.now() });
    }
    if (fault === 'lose-reply') response.destroy();
    else response.writeHead(200, { etag: '"x"' }).end();
  };
  if (store.looksFirst) setTimeout(keep, 100);
  else keep();
}

function read(
  store: S3Store,
  asked: StoreRequest,
  response: ServerResponse,
  fault: StoreFault | undefined,
): void {
  const found = store.objects.get(asked.key);
  if (found === undefined) {
    if (store.saysNoReason) response.writeHead(404).end();
    else refuse(response, 404, 'NoSuchKey');
    return;
  }
  const { body, ms } = found;
  const head = { etag: '"x"', 'last-modified': new Date(ms).toUTCString() };
  if (asked.method === 'HEAD') {
    response.writeHead(200, { ...head, 'content-length': body.length }).end();
    return;
  }
  const [, from = '', to = ''] = /^bytes=(\d*)-(\d*)$/.exec(asked.headers.range ?? '') ?? [];
  const isPart = asked.headers.range !== undefined && fault !== 'whole';
  const shift = fault === 'other-part' ? 1 : 0;
  const start = (from === '' ? Math.max(0, body.length - Number(to)) : Number(from)) + shift;
  const end = from === '' || to === '' ? body.length : Math.min(body.length, Number(to) + 1 + shift);
  if (isPart && start >= body.length) {
    refuse(response, 416, 'InvalidRange');
    return;
  }
  const part = isPart ? body.subarray(start, end) : body;
  response.writeHead(isPart && fault !== 'part-as-200' ? 206 : 200, {
    ...head,
    'content-length': part.length,
    ...(isPart ? { 'content-range': `bytes ${start}-${end - 1}/${body.length}` } : {}),
  });
  if (fault === 'hang-in-body') response.write(part.subarray(0, part.length / 2));
  else if (fault === 'cut-short') response.write(part.subarray(0, part.length / 2), () => response.destroy());
  else response.end(part);
}

function list(
  store: S3Store,
  { query }: StoreRequest,
  response: ServerResponse,
  fault: StoreFault | undefined,
): void {
  const prefix = query.get('prefix') ?? '';
  const after = query.get('continuation-token') ?? '';
  const all = [...store.objects.keys()].filter((key) => key.startsWith(prefix) && key > after).toSorted();
  const length = Math.min(PAGE, Number(query.get('max-keys') ?? PAGE));
  const keys = all.slice(0, length);
  const truncated = all.length > length;
  const page: ListPage = { keys, count: keys.length, next: truncated ? keys.at(-1) : undefined, truncated };
  const shown = typeof fault === 'object' && 'list' in fault ? fault.list(page) : page;
  const contents = shown.keys.map((key) => {
    const { body, ms } = store.objects.get(key) ?? { body: Buffer.alloc(1), ms: 0 };
    const modified = new Date(ms).toISOString();
    return `<Contents><Key>${key}</Key><Size>${body.length}</Size><LastModified>${modified}</LastModified></Contents>`;
  });
  const count = shown.count === undefined ? '' : `<KeyCount>${shown.count}</KeyCount>`;
  const next = shown.next === undefined ? '' : `<NextContinuationToken>${shown.next}</NextContinuationToken>`;
  const text = `<?xml version="1.0"?><ListBucketResult><IsTruncated>${shown.truncated}</IsTruncated>${count}${next}${contents.join('')}</ListBucketResult>`;
  response.writeHead(200, { 'content-type': 'application/xml' });
  if (typeof fault === 'object' && 'pauseMs' in fault)
    void trickle(response, text, fault.pieceBytes, fault.pauseMs);
  else if (fault === 'cut-short') response.write(text.slice(0, text.length / 2), () => response.destroy());
  else response.end(text);
}

function refuse(
  response: ServerResponse,
  status: number,
  code: string,
  headers: Readonly<Record<string, string>> = {},
  words = 'm',
): void {
  response
    .writeHead(status, { 'content-type': 'application/xml', date: new Date().toUTCString(), ...headers })
    .end(
      response.req.method === 'HEAD'
        ? ''
        : `<?xml version="1.0"?><Error><Code>${code}</Code><Message>${words}</Message></Error>`,
    );
}
