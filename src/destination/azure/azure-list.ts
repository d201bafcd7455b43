/** Lists the blobs of a container. */
import { Readable } from 'node:stream';
import type { RequestPolicyFactory } from '@azure/storage-blob';
import type { AskPage, StoreObject } from '../ordered-pages.ts';
import type { Moving } from '../stall.ts';
import { RecordReader, child, readRecords, type XmlElement } from '../xml-records.ts';
import { ask, senseless, type AzureStore } from './azure-client.ts';

type Take = Parameters<AskPage>[1];

/** Resolves with the token of the next page. */
export async function listPage(
  store: AzureStore,
  prefix: string,
  next: string | undefined,
  maxPageSize: number,
  signal: AbortSignal,
  take: Take,
): Promise<string | undefined> {
  return await ask(store, { op: 'list' }, signal, async (moving) => {
    const { page, policy } = pageReader(store, moving, take);
    const pages = store
      .containerWith(policy)
      .listBlobsFlat({ prefix: store.root + prefix, abortSignal: moving.signal })
      .byPage({ maxPageSize, ...(next === undefined ? {} : { continuationToken: next }) });
    await pages.next();
    return await page;
  });
}

/** What the library is given in place of a page that was read. */
const NOTHING = { segment: { blobItems: [] } };

const GOOD = 200;

/** Reads a page while it comes, in place of the library, which would make an object of each letter of a name. */
function pageReader(
  store: AzureStore,
  moving: Moving,
  take: Take,
): { readonly page: Promise<string | undefined>; readonly policy: RequestPolicyFactory } {
  const page = Promise.withResolvers<string | undefined>();
  page.promise.catch(() => {});
  const policy: RequestPolicyFactory = {
    create: (next) => ({
      async sendRequest(request) {
        request.streamResponseStatusCodes = new Set([GOOD]);
        const answer = await next.sendRequest(request);
        if (answer.status !== GOOD) return answer;
        page.resolve(await tokenOf(store, answer.readableStreamBody, moving, take));
        answer.parsedBody = NOTHING;
        return answer;
      },
    }),
  };
  return { page: page.promise, policy };
}

const FORM = { path: ['EnumerationResults', 'Blobs', 'Blob'], fields: ['Blobs', 'NextMarker'] };

async function tokenOf(
  store: AzureStore,
  body: unknown,
  moving: Moving,
  take: Take,
): Promise<string | undefined> {
  const reader = new RecordReader(FORM, (blob) => {
    const object = objectOf(blob);
    if (object !== undefined) take(object);
    return object !== undefined;
  });
  const isWhole = body instanceof Readable && (await readRecords(body, reader, moving));
  if (!isWhole || reader.field('Blobs') === undefined)
    throw senseless(store, 'list', undefined, 'the answer is not a list');
  const token = reader.field('NextMarker') ?? '';
  return token === '' ? undefined : token;
}

function objectOf(blob: XmlElement): StoreObject | undefined {
  const name = nameOf(child(blob, 'Name'));
  if (name === undefined) return undefined;
  const properties = child(blob, 'Properties');
  const property = (of: string): string => (properties && child(properties, of)?.text.trim()) ?? '';
  const size = property('Content-Length');
  return {
    name,
    size: /^\d{1,15}$/.test(size) ? Number(size) : undefined,
    modifiedMs: Date.parse(property('Last-Modified')),
  };
}

/** Names with letters that XML does not have are encoded. */
function nameOf(element: XmlElement | undefined): string | undefined {
  if (element === undefined || !/\sEncoded\s*=\s*["']true["']/i.test(element.attributes))
    return element?.text;
  try {
    return decodeURIComponent(element.text);
  } catch {
    return undefined;
  }
}
