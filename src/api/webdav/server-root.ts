/**
 * Answers what clients ask of the server before they open a folder of it. Explorer asks at the root, whatever URL it
 * was given, and treats a server that does not answer there as one without WebDAV. The answers reveal only that there
 * is a folder.
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { pathOf } from '../framework/route-table.ts';
import { WEBDAV_ROOT } from './target.ts';

export const ALLOWED = 'OPTIONS, PROPFIND, GET, HEAD';

/** Whether the request is such a question: about the whole server, its root, or the start of the folder's URLs. */
export function asksServer({ method, url = '' }: Pick<IncomingMessage, 'method' | 'url'>): boolean {
  const path = pathOf(url);
  const isRoot = path === '/' || path === '*';
  // A PROPFIND of the folder itself must get 401 instead, so that clients ask for its user name and password.
  if (method === 'PROPFIND') return isRoot;
  return method === 'OPTIONS' && (isRoot || path === WEBDAV_ROOT || path === `${WEBDAV_ROOT}/`);
}

export function answerOptions(response: ServerResponse): void {
  // Explorer recognises a WebDAV server by `ms-author-via`.
  response.writeHead(200, { allow: ALLOWED, dav: '1', 'ms-author-via': 'DAV', 'content-length': 0 }).end();
}

const ROOT = Buffer.from(
  '<?xml version="1.0" encoding="utf-8"?>\n<D:multistatus xmlns:D="DAV:"><D:response><D:href>/</D:href><D:propstat><D:prop><D:resourcetype><D:collection/></D:resourcetype></D:prop><D:status>HTTP/1.1 200 OK</D:status></D:propstat></D:response></D:multistatus>\n',
);

/** Describes the root as an empty folder. */
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
