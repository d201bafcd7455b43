/**
 * What clients ask of the server before they open a folder of it. Explorer asks at the root, whatever address it was given,
 * and takes a server that does not answer there for none of WebDAV; nothing is told but that there is a folder.
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { pathOf } from '../framework/route-table.ts';
import { WEBDAV_ROOT } from './target.ts';

export const ALLOWED = 'OPTIONS, PROPFIND, GET, HEAD';

/** Whether it is such a question: of the whole server, of its root, or of what the folder begins with. */
export function asksServer({ method, url = '' }: Pick<IncomingMessage, 'method' | 'url'>): boolean {
  const path = pathOf(url);
  const isRoot = path === '/' || path === '*';
  // Whoever has a name and a password for the folder itself is to be asked for them.
  if (method === 'PROPFIND') return isRoot;
  return method === 'OPTIONS' && (isRoot || path === WEBDAV_ROOT || path === `${WEBDAV_ROOT}/`);
}

export function answerOptions(response: ServerResponse): void {
  // Explorer takes a server for one of folders by the last of these.
  response.writeHead(200, { allow: ALLOWED, dav: '1', 'ms-author-via': 'DAV', 'content-length': 0 }).end();
}

const ROOT = Buffer.from(
  '<?xml version="1.0" encoding="utf-8"?>\n<D:multistatus xmlns:D="DAV:"><D:response><D:href>/</D:href><D:propstat><D:prop><D:resourcetype><D:collection/></D:resourcetype></D:prop><D:status>HTTP/1.1 200 OK</D:status></D:propstat></D:response></D:multistatus>\n',
);

/** The root is a folder, in which nothing is listed. */
export function answerServer({ method }: Pick<IncomingMessage, 'method'>, response: ServerResponse): void {
  if (method === 'OPTIONS') answerOptions(response);
  else
    response
      .writeHead(207, {
        'content-type': 'application/xml; charset=utf-8',
        'content-length': ROOT.length,
        dav: '1',
      })
      .end(ROOT);
}
