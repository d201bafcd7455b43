/** Lists the objects of an S3 store. */
import { Readable } from 'node:stream';
import type { ListObjectsV2Command } from '@aws-sdk/client-s3';
import { DestinationError } from '../../base/errors.ts';
import type { ListedObject } from '../destination.ts';
import { orderedPages, type AskPage, type StoreObject } from '../ordered-pages.ts';
import type { Moving } from '../stall.ts';
import { RecordReader, child, readRecords, type XmlElement } from '../xml-records.ts';
import { refuseWebPage, type S3Store } from './s3-client.ts';
import { wholeSeconds } from './s3-look.ts';

const PAGE_LENGTH = 1000;

export async function* listObjects(
  store: S3Store,
  prefix: string,
  signal: AbortSignal,
): AsyncGenerator<readonly ListedObject[]> {
  const { bucket, client, library, root, url } = store;
  yield* orderedPages(
    url,
    root,
    prefix,
    async (next, take) =>
      await store.ask({ op: 'list' }, signal, async (moving) => {
        const command = new library.ListObjectsV2Command({
          Bucket: bucket,
          Prefix: root + prefix,
          MaxKeys: PAGE_LENGTH,
          ...(next === undefined ? {} : { ContinuationToken: next }),
        });
        const page = readPage(command, url, moving, take);
        await client.send(command, { abortSignal: moving.signal });
        return await page;
      }),
  );
}

/** What the library is given in place of a page that was read: it would take it apart as a whole. */
const NOTHING = '<ListBucketResult/>';

type Take = Parameters<AskPage>[1];

/** Reads a page while it comes, before the library does. Resolves with the token of the next. */
function readPage(
  { middlewareStack }: ListObjectsV2Command,
  url: string,
  moving: Moving,
  take: Take,
): Promise<string | undefined> {
  const page = Promise.withResolvers<string | undefined>();
  page.promise.catch(() => {});
  middlewareStack.add(
    (next) => async (step) => {
      const result = await next(step);
      refuseWebPage(step.request, result.response);
      const response = result.response as { body: Readable; readonly statusCode: number };
      if (response.statusCode >= 300) return result;
      page.resolve(await tokenOf(response.body, url, moving, take));
      response.body = Readable.from([Buffer.from(NOTHING)]);
      return result;
    },
    { step: 'deserialize', priority: 'low', name: 'holdfastPage' },
  );
  return page.promise;
}

const FORM = {
  path: ['ListBucketResult', 'Contents'],
  fields: ['KeyCount', 'IsTruncated', 'NextContinuationToken'],
};

async function tokenOf(body: Readable, url: string, moving: Moving, take: Take): Promise<string | undefined> {
  let objects = 0;
  const reader = new RecordReader(FORM, (contents) => {
    objects += 1;
    take(objectOf(contents));
    return true;
  });
  if (!(await readRecords(body, reader, moving))) throw incomplete(url, 'it is not a list');
  const count = reader.field('KeyCount');
  const truncated = reader.field('IsTruncated')?.trim();
  const token = reader.field('NextContinuationToken');
  // An answer that is no list has neither; in one that was cut short the count does not fit.
  if (truncated === undefined && count === undefined) throw incomplete(url, 'it is not a list');
  if (count !== undefined && Number(count) !== objects)
    throw incomplete(url, `${objects} of ${count.slice(0, 20)} objects came`);
  if (truncated !== 'true') return undefined;
  if (token === undefined) throw incomplete(url, 'it does not say how to continue');
  return token;
}

function objectOf(contents: XmlElement): StoreObject {
  const size = child(contents, 'Size')?.text.trim() ?? '';
  const modifiedMs = Date.parse(child(contents, 'LastModified')?.text ?? '');
  return {
    name: child(contents, 'Key')?.text ?? '',
    size: /^\d{1,15}$/.test(size) ? Number(size) : undefined,
    modifiedMs: Number.isNaN(modifiedMs) ? undefined : wholeSeconds(modifiedMs),
  };
}

function incomplete(url: string, what: string): DestinationError {
  return new DestinationError('corrupt-reply', `Cannot list ${url}: the list is incomplete, as ${what}`, {
    op: 'list',
    hint: 'Do not trust the lists of this store: use another one, or a newer version of it.',
    retry: 'now',
    details: { whole: true },
  });
}
