/** Downloads a folder of a snapshot as one file. */
import { Readable } from 'node:stream';
import { closingSignal, untilClosedOr } from '../connections/closing.ts';
import type { ApiApp } from '../framework/route.ts';
import { attachment } from '../routes/content-routes.ts';
import { readRequiredPath } from '../routes/request-values.ts';
import type { ResourceParts } from '../routes/resource-parts.ts';
import { ArchiveQuery } from '../schemas/page/entries.ts';

const TAR = 'application/x-tar';

export function archiveRoute(app: ApiApp, { agent }: Pick<ResourceParts, 'agent'>): void {
  const closing = closingSignal(app);
  app.get(
    '/archive',
    { schema: { querystring: ArchiveQuery }, config: { scope: 'page', duration: 'streams', produces: TAR } },
    async ({ query: { snapshot, ...named } }, reply) => {
      const archive = await agent.archive(snapshot, readRequiredPath(named));
      const { name } = archive;
      reply
        .header('content-type', TAR)
        .header('content-disposition', attachment(`${name === '' ? 'snapshot' : name}.tar`))
        .header('cache-control', 'private, no-store');
      // Its length is unknown. If it cannot be read to its end, the connection breaks, and browsers report that.
      return await reply.send(
        Readable.from(archive.read(untilClosedOr(closing, reply)), { objectMode: false }),
      );
    },
  );
}
