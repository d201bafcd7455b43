/** Lists the objects of an S3 store. */
import { Transform, pipeline, type Readable } from 'node:stream';
import type { ListObjectsV2Command } from '@aws-sdk/client-s3';
import { DestinationError } from '../../base/errors.ts';
import type { ListedObject } from '../destination.ts';
import { orderedPages } from '../ordered-pages.ts';
import type { Moving } from '../stall.ts';
import type { S3Store } from './s3-client.ts';
import { wholeSeconds } from './s3-look.ts';

const PAGE_LENGTH = 1000;

export async function* listObjects(
  store: S3Store,
  prefix: string,
  signal: AbortSignal,
): AsyncGenerator<readonly ListedObject[]> {
  const { bucket, client, library, root, url } = store;
  yield* orderedPages(url, root, prefix, async (next) => {
    const reply = await store.ask({ op: 'list' }, signal, async (moving) => {
      const command = new library.ListObjectsV2Command({
        Bucket: bucket,
        Prefix: root + prefix,
        MaxKeys: PAGE_LENGTH,
        ...(next === undefined ? {} : { ContinuationToken: next }),
      });
      tellOfArriving(command, moving);
      return await client.send(command, { abortSignal: moving.signal });
    });
    const {
      Contents: contents = [],
      KeyCount: count,
      IsTruncated: truncated,
      NextContinuationToken: token,
    } = reply;
    // An answer that is no list has neither; in one that was cut short the count does not fit.
    if (truncated === undefined && count === undefined) throw incomplete(url, 'it is no list');
    if (count !== undefined && count !== contents.length)
      throw incomplete(url, `${contents.length} of ${count} objects came`);
    if (truncated === true && token === undefined) throw incomplete(url, 'nothing says how it goes on');
    return {
      objects: contents.map(({ Key: name = '', Size: size, LastModified: modified }) => ({
        name,
        size,
        modifiedMs: modified === undefined ? undefined : wholeSeconds(modified.getTime()),
      })),
      next: truncated === true ? token : undefined,
    };
  });
}

/**
 * Reports the bytes of a page as they arrive. A page has hundreds of kilobytes, which the library hands over only as a
 * whole.
 */
function tellOfArriving({ middlewareStack }: ListObjectsV2Command, { moved }: Moving): void {
  middlewareStack.add(
    (next) => async (step) => {
      const result = await next(step);
      const response = result.response as { body: Readable };
      const counter = new Transform({
        transform(chunk: Buffer, _, done) {
          moved(chunk.byteLength);
          done(null, chunk);
        },
      });
      // A failure of either stream destroys the other, and the library listens to the last one.
      response.body = pipeline(response.body, counter, () => {});
      return result;
    },
    { step: 'deserialize', priority: 'low', name: 'holdfastArriving' },
  );
}

function incomplete(url: string, what: string): DestinationError {
  return new DestinationError('corrupt-reply', `Cannot list ${url}: the list is incomplete, as ${what}`, {
    op: 'list',
    hint: 'Do not rely on what this store lists: use another one, or a newer version of it.',
    retry: 'now',
    details: { whole: true },
  });
}
