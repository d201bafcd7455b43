/** Each kind of destination that is asked by HTTP: a store that answers well, and how the program is told of it. */
import { startAzureStore } from '../support/azure-store.ts';
import { startGoogleStore } from '../support/google-store.ts';
import { startS3Store } from '../support/s3-store.ts';
import { startWebdavStore } from '../support/webdav-store.ts';
import type { Asked, Subject } from './front.ts';
import type { Speech } from './manners.ts';

export interface Kind {
  readonly name: string;
  start(): Promise<AsyncDisposable & { readonly origin: string }>;
  subjectOf(asked: Asked): Subject;
  /** The place for the program, at the front. */
  location(origin: string): string;
  /** What the program is given beside it. */
  variables(origin: string): Readonly<Record<string, string>>;
  readonly speech: Speech;
  /** Another program asks the store, and has its own patience: seconds for a read that stands still, and for the rest. */
  readonly another?: { readonly standsStill: number; readonly rest: number };
}

/** Names that grow. */
function numbered(index: number): string {
  return String(index).padStart(9, '0');
}

const TIME = '2026-01-01T00:00:00Z';

const s3: Kind = {
  name: 's3',
  start: async () => {
    const store = await startS3Store();
    return { origin: store.endpoint, [Symbol.asyncDispose]: () => store[Symbol.asyncDispose]() };
  },
  subjectOf: ({ method, url }) => {
    if (method === 'HEAD') return 'look';
    if (method !== 'GET') return 'other';
    return url.includes('list-type=2') ? 'list' : read(url);
  },
  location: (origin) => `s3://bucket/p?endpoint=${origin}`,
  variables: () => ({
    AWS_ACCESS_KEY_ID: 'AK',
    AWS_SECRET_ACCESS_KEY: 'SK',
    AWS_EC2_METADATA_DISABLED: 'true',
  }),
  speech: {
    headers: { 'x-amz-request-id': '1' },
    type: 'application/xml',
    status: 200,
    begin: '<?xml version="1.0"?><ListBucketResult>',
    object: ({ url }, index) =>
      `<Contents><Key>${prefixOf(url, 'prefix', 'p/')}${numbered(index)}</Key><Size>1</Size><LastModified>${TIME}</LastModified></Contents>`,
    hollow: '<a/>',
    nested: ['<a>', '</a>'],
    end: '<IsTruncated>false</IsTruncated></ListBucketResult>',
    folders: () => '<IsTruncated>false</IsTruncated></ListBucketResult>',
    more: (_asked, index) =>
      `<IsTruncated>true</IsTruncated><NextContinuationToken>${index}</NextContinuationToken></ListBucketResult>`,
  },
};

const azure: Kind = {
  name: 'azure',
  start: startAzureStore,
  subjectOf: ({ method, url }) => {
    if (method === 'HEAD') return 'look';
    if (method !== 'GET') return 'other';
    return url.includes('comp=list') ? 'list' : read(url);
  },
  location: (origin) => `azblob://box/p?account=test0&endpoint=${origin}/test0`,
  variables: () => ({ AZURE_STORAGE_KEY: Buffer.from('secret').toString('base64') }),
  speech: {
    headers: { 'x-ms-request-id': '1', 'x-ms-version': '2025-01-05' },
    type: 'application/xml',
    status: 200,
    begin: '<?xml version="1.0"?><EnumerationResults><Blobs>',
    object: ({ url }, index) =>
      `<Blob><Name>${prefixOf(url, 'prefix', 'p/')}${numbered(index)}</Name><Properties><Last-Modified>Thu, 01 Jan 2026 00:00:00 GMT</Last-Modified><Etag>e</Etag><Content-Length>1</Content-Length><BlobType>BlockBlob</BlobType></Properties></Blob>`,
    hollow: '<a/>',
    nested: ['<a>', '</a>'],
    end: '</Blobs><NextMarker></NextMarker></EnumerationResults>',
    folders: () => '</Blobs><NextMarker></NextMarker></EnumerationResults>',
    more: (_asked, index) => `</Blobs><NextMarker>${index}</NextMarker></EnumerationResults>`,
  },
};

const google: Kind = {
  name: 'google',
  start: async () => {
    const store = await startGoogleStore();
    return { origin: store.endpoint, [Symbol.asyncDispose]: () => store[Symbol.asyncDispose]() };
  },
  subjectOf: ({ method, url }) => {
    if (method !== 'GET') return 'other';
    if (/\/o(?:\?|$)/.test(url)) return 'list';
    return url.includes('alt=media') ? read(url) : 'look';
  },
  location: (origin) => `gs://bucket/p?endpoint=${origin}`,
  variables: () => ({}),
  speech: {
    headers: {},
    type: 'application/json',
    status: 200,
    begin: '{"kind":"storage#objects","items":[',
    object: ({ url }, index) =>
      `${index % 1_000 === 1 ? '' : ','}{"kind":"storage#object","name":"${prefixOf(url, 'prefix', 'p/')}${numbered(index)}","bucket":"bucket","size":"1","timeCreated":"${TIME}"}`,
    hollow: '{},',
    nested: ['[', ']'],
    end: '{}]}',
    folders: () => ']}',
    more: (_asked, index) => `],"nextPageToken":"${index}"}`,
  },
};

const speechOfWebdav: Speech = {
  headers: {},
  type: 'application/xml',
  status: 207,
  begin: '<?xml version="1.0"?><D:multistatus xmlns:D="DAV:">',
  object: ({ url }, index) => davEntry(`${url.replace(/\/$/, '')}/${numbered(index)}`, index === 1_000),
  hollow: '<a/>',
  nested: ['<a>', '</a>'],
  end: '</D:multistatus>',
  folders: ({ url }) => {
    const below = Array.from({ length: 30 }, (_, index) =>
      davEntry(`${url.replace(/\/$/, '')}/d${index}`, true),
    );
    return `${davEntry(url, true)}${below.join('')}</D:multistatus>`;
  },
  more: ({ url }) => `${davEntry(url, true)}</D:multistatus>`,
};

function davEntry(path: string, isFolder: boolean): string {
  const kind = isFolder ? '<D:resourcetype><D:collection/></D:resourcetype>' : '<D:resourcetype/>';
  const facts = `${isFolder ? '' : '<D:getcontentlength>1</D:getcontentlength>'}<D:getlastmodified>Thu, 01 Jan 2026 00:00:00 GMT</D:getlastmodified>`;
  return `<D:response><D:href>${path}${isFolder && !path.endsWith('/') ? '/' : ''}</D:href><D:propstat><D:prop>${kind}${facts}</D:prop><D:status>HTTP/1.1 200 OK</D:status></D:propstat></D:response>`;
}

function subjectOfWebdav({ method, headers, url }: Asked): Subject {
  if (method === 'PROPFIND') return headers['depth'] === '1' ? 'list' : 'look';
  if (method === 'HEAD') return 'look';
  return method === 'GET' ? read(url) : 'other';
}

const webdav: Kind = {
  name: 'webdav',
  start: startWebdavStore,
  subjectOf: subjectOfWebdav,
  location: (origin) => `${origin.replace('http:', 'webdav:')}/dav/p`,
  variables: () => ({}),
  speech: speechOfWebdav,
};

/** The real rclone, which asks a WebDAV server. */
const rclone: Kind = {
  name: 'rclone',
  start: startWebdavStore,
  subjectOf: subjectOfWebdav,
  location: () => 'rclone:far:p',
  variables: (origin) => ({
    RCLONE_CONFIG: '/dev/null',
    RCLONE_CONFIG_FAR_TYPE: 'webdav',
    RCLONE_CONFIG_FAR_VENDOR: 'other',
    RCLONE_CONFIG_FAR_URL: `${origin}/dav`,
  }),
  speech: speechOfWebdav,
  another: { standsStill: 660, rest: 300 },
};

export const KINDS: readonly Kind[] = [s3, azure, google, webdav, rclone];

function prefixOf(url: string, name: string, otherwise: string): string {
  return new URL(url, 'http://x').searchParams.get(name) ?? otherwise;
}

function read(url: string): Subject {
  return /(?:\/|%2F)packs(?:\/|%2F)/i.test(url) ? 'pack' : 'object';
}
