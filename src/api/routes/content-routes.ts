import { Readable } from 'node:stream';
import { ApiError } from '../wire/api-error.ts';
import { closingSignal, untilClosedOr } from '../connections/closing.ts';
import { readRange } from '../wire/headers.ts';
import { readRequiredPath, readSnapshot, readStoredBy } from './request-values.ts';
import type { ResourceParts } from './resource-parts.ts';
import type { ApiApp } from '../framework/route.ts';
import { ContentQuery } from '../schemas/snapshot.ts';

const BYTES = 'application/octet-stream';

export function contentRoutes(app: ApiApp, { agent }: ResourceParts): void {
  const closing = closingSignal(app);
  app.get(
    '/files/content',
    {
      schema: { querystring: ContentQuery },
      config: {
        scope: 'api',
        duration: 'streams',
        produces: BYTES,
      },
    },
    async (request, reply) => {
      const { snapshot, stored_by: storedBy, ...named } = request.query;
      const content = await agent.content(
        readSnapshot(snapshot),
        readRequiredPath(named),
        readStoredBy(storedBy),
      );
      const { size } = content;
      // Contents have no validator such as an ETag, so an If-Range condition never holds and the whole file is sent.
      const conditional = request.headers['if-range'] !== undefined;
      const range = conditional ? undefined : readRange(request.headers.range, size);
      if (range === 'unsatisfiable') {
        throw new ApiError('RANGE_NOT_SATISFIABLE', `The file has ${size} bytes`, {
          hint: 'Ask for bytes that it has.',
          details: { size_bytes: size },
          headers: { 'content-range': `bytes */${size}` },
        });
      }
      const { start, end } = range ?? { start: 0, end: size };
      if (range !== undefined) {
        reply.code(206).header('content-range', `bytes ${start}-${end - 1}/${size}`);
      }
      reply
        .header('content-type', BYTES)
        .header('content-length', end - start)
        .header('content-disposition', attachment(content.name))
        .header('accept-ranges', 'bytes')
        .header('cache-control', 'private, no-store');
      return await reply.send(
        Readable.from(content.read(range, untilClosedOr(closing, reply)), { objectMode: false }),
      );
    },
  );
}

/**
 * The file name in ASCII for old clients, and in UTF-8 as RFC 6266 specifies. No character of it can end the header or
 * name a directory.
 */
export function attachment(name: string): string {
  const plain = name.replaceAll(/[^\u0020-\u007e]|["\\/%]/g, '_');
  const encoded = encodeURIComponent(name.toWellFormed().replaceAll('/', '_')).replaceAll(
    /['()*]/g,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
  );
  return `attachment; filename="${plain}"; filename*=UTF-8''${encoded}`;
}
