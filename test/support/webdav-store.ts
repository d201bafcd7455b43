/** As much of a WebDAV server as a destination uses, in this process, with answers that can be put in place of its own. */
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { WebdavPlace } from '../../src/destination/location.ts';

interface Stored {
  /** Undefined for a folder. */
  readonly body?: Buffer;
  readonly ms: number;
}

export interface DavAnswer {
  readonly status: number;
  readonly text?: string;
  readonly location?: string;
  /** The type of its content. */
  readonly type?: string;
  /** Which part of the object it is. */
  readonly range?: string;
}

/** `perform` does what is asked, and gives the answer to it. */
export type DavFault = (
  method: string,
  path: string,
  perform: () => DavAnswer,
) => DavAnswer | 'cut the line' | undefined;

export interface WebdavStore extends AsyncDisposable {
  readonly origin: string;
  readonly place: WebdavPlace;
  /** By decoded path, without a slash at the end. */
  readonly tree: Map<string, Stored>;
  /** Method and path of each request. */
  readonly asked: string[];
  fault: DavFault;
}

const ROOT = '/dav';

export async function startWebdavStore(): Promise<WebdavStore> {
  const server = createServer((request, response) => {
    void respond(store, request, response).catch(() => response.destroy());
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const store: WebdavStore = {
    origin,
    place: { kind: 'webdav', url: `${origin}${ROOT}`, user: undefined },
    tree: new Map([[ROOT, { ms: Date.now() }]]),
    asked: [],
    fault: () => undefined,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
  return store;
}

async function respond(
  store: WebdavStore,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  const { method = '' } = request;
  const path = pathOf(request.url ?? '/');
  store.asked.push(`${method} ${path}`);
  const perform = (): DavAnswer => answerTo(store.tree, request, path, Buffer.concat(chunks));
  const answer = store.fault(method, path, perform) ?? perform();
  if (answer === 'cut the line') {
    request.socket.destroy();
    return;
  }
  const { status, text = '', location, range, type } = answer;
  const body = Buffer.from(text, 'latin1');
  response.writeHead(status, {
    'content-length': body.length,
    'content-type': type ?? (status === 207 ? 'application/xml' : 'application/octet-stream'),
    ...(location === undefined ? {} : { location }),
    ...(range === undefined ? {} : { 'content-range': range }),
  });
  response.end(body);
}

function answerTo(
  tree: Map<string, Stored>,
  request: IncomingMessage,
  path: string,
  body: Buffer,
): DavAnswer {
  const there = tree.get(path);
  const hasFolder = tree.has(path.slice(0, path.lastIndexOf('/')));
  const below = [...tree].filter(([name]) => name.startsWith(`${path}/`));
  switch (request.method) {
    case 'PROPFIND': {
      if (there === undefined) return { status: 404 };
      const children = below.filter(([name]) => !name.slice(path.length + 1).includes('/'));
      const shown = [[path, there] as const, ...(request.headers['depth'] === '1' ? children : [])];
      return { status: 207, text: multistatus(shown) };
    }
    case 'MKCOL':
      if (there !== undefined || !hasFolder) return { status: there === undefined ? 409 : 405 };
      tree.set(path, { ms: Date.now() });
      return { status: 201 };
    case 'PUT':
      if (!hasFolder) return { status: 409 };
      tree.set(path, { body, ms: Date.now() });
      return { status: 201 };
    case 'DELETE':
      for (const [name] of below) tree.delete(name);
      return { status: tree.delete(path) ? 204 : 404 };
    case 'GET':
      return there?.body === undefined ? { status: 404 } : partOf(there.body, request.headers.range ?? '');
    case 'MOVE': {
      const destination = String(request.headers['destination']);
      // As Apache: a path alone is nonsense.
      if (!URL.canParse(destination)) return { status: 400 };
      const to = pathOf(new URL(destination).pathname);
      if (there === undefined) return { status: 404 };
      if (tree.has(to)) return { status: 412 };
      tree.set(to, there);
      tree.delete(path);
      return { status: 201 };
    }
    default:
      return { status: 405 };
  }
}

function partOf(body: Buffer, range: string): DavAnswer {
  const [, from, to] = /^bytes=(\d+)-(\d*)$/.exec(range) ?? [];
  if (from === undefined) return { status: 200, text: body.toString('latin1') };
  const part = body.subarray(Number(from), to === '' ? undefined : Number(to) + 1);
  const end = Number(from) + part.length - 1;
  return { status: 206, text: part.toString('latin1'), range: `bytes ${from}-${end}/${body.length}` };
}

function pathOf(url: string): string {
  return decodeURIComponent(url).replace(/\/+$/, '');
}

export function multistatus(entries: readonly (readonly [string, Stored])[]): string {
  const responses = entries.map(([path, { body, ms }]) => {
    const kind =
      body === undefined ? '<D:resourcetype><D:collection/></D:resourcetype>' : '<D:resourcetype/>';
    const size = body === undefined ? '' : `<D:getcontentlength>${body.length}</D:getcontentlength>`;
    const time = `<D:getlastmodified>${new Date(ms).toUTCString()}</D:getlastmodified>`;
    return `<D:response><D:href>${encodeURI(path)}</D:href><D:propstat><D:prop>${kind}${size}${time}</D:prop><D:status>HTTP/1.1 200 OK</D:status></D:propstat></D:response>`;
  });
  return `<?xml version="1.0"?><D:multistatus xmlns:D="DAV:">${responses.join('')}</D:multistatus>`;
}
