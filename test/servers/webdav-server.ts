/** What the tests know of a WebDAV server, whichever it is. */
import type { WebdavAccess } from '../../src/destination/access.ts';
import type { WebdavPlace } from '../../src/destination/location.ts';

export interface WebdavServer {
  readonly port: number;
  /** What is stored lies below it. */
  readonly data: string;
  place(name: string): WebdavPlace;
  readonly access: WebdavAccess;
  log(): Promise<string>;
  stop(): Promise<void>;
}

export function webdavPlaceAt(port: number, path: string, user?: string): WebdavPlace {
  return { kind: 'webdav', url: `http://127.0.0.1:${port}/${path}`, user };
}
