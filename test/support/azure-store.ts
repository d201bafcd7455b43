/** As much of Azure Blob Storage as a destination uses, in this process. Who asks is not looked at. */
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

interface Stored {
  readonly body: Buffer;
  readonly ms: number;
}

export interface AzureStore extends AsyncDisposable {
  readonly origin: string;
  /** By name, below `/test0/box`. */
  readonly blobs: Map<string, Stored>;
}

const ROOT = '/test0/box';
const PAGE = 1000;
const OWN = { 'x-ms-request-id': '1', 'x-ms-version': '2025-01-05' };

export async function startAzureStore(): Promise<AzureStore> {
  const server = createServer((request, response) => {
    void respond(store, request, response).catch(() => response.destroy());
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const store: AzureStore = {
    origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    blobs: new Map(),
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
  return store;
}

async function respond(
  { blobs }: AzureStore,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  const url = new URL(request.url ?? '/', 'http://store');
  const name = decodeURIComponent(url.pathname.slice(ROOT.length + 1));
  const found = blobs.get(name);
  if (url.searchParams.get('comp') === 'list') list(blobs, url.searchParams, response);
  else if (request.method === 'PUT') {
    if (found !== undefined && request.headers['if-none-match'] === '*')
      refuse(response, 409, 'BlobAlreadyExists');
    else {
      blobs.set(name, { body: Buffer.concat(chunks), ms: Date.now() });
      response.writeHead(201, OWN).end();
    }
  } else if (found === undefined) refuse(response, 404, 'BlobNotFound');
  else if (request.method === 'DELETE') {
    blobs.delete(name);
    response.writeHead(202, OWN).end();
  } else read(found, request, response);
}

function read({ body, ms }: Stored, { method, headers }: IncomingMessage, response: ServerResponse): void {
  const facts = {
    ...OWN,
    'Last-Modified': new Date(ms).toUTCString(),
    ETag: '"e"',
    'x-ms-blob-type': 'BlockBlob',
  };
  const asked = headers['x-ms-range'] ?? headers.range;
  const [, from, to] = /^bytes=(\d+)-(\d*)$/.exec(typeof asked === 'string' ? asked : '') ?? [];
  const isPart = method === 'GET' && from !== undefined;
  const part = isPart ? body.subarray(Number(from), to === '' ? undefined : Number(to) + 1) : body;
  const range = isPart
    ? { 'Content-Range': `bytes ${from}-${Number(from) + part.length - 1}/${body.length}` }
    : {};
  const whole = isPart ? {} : { 'Content-MD5': createHash('md5').update(body).digest('base64') };
  response.writeHead(isPart ? 206 : 200, { ...facts, ...range, ...whole, 'Content-Length': part.length });
  response.end(method === 'HEAD' ? undefined : part);
}

function list(blobs: AzureStore['blobs'], asked: URLSearchParams, response: ServerResponse): void {
  const prefix = asked.get('prefix') ?? '';
  const after = asked.get('marker') ?? '';
  const length = Math.min(PAGE, Number(asked.get('maxresults') ?? PAGE));
  const names = [...blobs.keys()].filter((name) => name.startsWith(prefix) && name > after).toSorted();
  const items = names.slice(0, length).map((name) => {
    const { body, ms } = blobs.get(name) ?? { body: Buffer.alloc(0), ms: 0 };
    const time = `<Last-Modified>${new Date(ms).toUTCString()}</Last-Modified><Etag>e</Etag>`;
    const size = `<Content-Length>${body.length}</Content-Length><BlobType>BlockBlob</BlobType>`;
    return `<Blob><Name>${name}</Name><Properties>${time}${size}</Properties></Blob>`;
  });
  const next = names.length > length ? (names[length - 1] ?? '') : '';
  response.writeHead(200, { ...OWN, 'Content-Type': 'application/xml' });
  response.end(
    `<?xml version="1.0" encoding="utf-8"?><EnumerationResults ContainerName="box"><Blobs>${items.join('')}</Blobs><NextMarker>${next}</NextMarker></EnumerationResults>`,
  );
}

function refuse(response: ServerResponse, status: number, code: string): void {
  response.writeHead(status, { ...OWN, 'Content-Type': 'application/xml', 'x-ms-error-code': code });
  response.end(
    response.req.method === 'HEAD'
      ? ''
      : `<?xml version="1.0" encoding="utf-8"?><Error><Code>${code}</Code><Message>m</Message></Error>`,
  );
}
