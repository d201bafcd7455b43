/** Turns the WebDAV folder of snapshots on and off, for the product's own page. */
import { maybeTimestamp } from '../presentation/values.ts';
import type { ApiApp } from '../framework/route.ts';
import { WebdavOff, WebdavSecret, WebdavState } from '../schemas/page/settings.ts';
import type { Webdav } from '../webdav/webdav.ts';

/** Must be registered under the prefix of the page's routes. */
export function webdavRoutes(app: ApiApp, webdav: Pick<Webdav, 'status' | 'turnOn' | 'turnOff'>): void {
  app.get(
    '/webdav',
    { config: { scope: 'page' }, schema: { response: { 200: WebdavState } } },
    async (): Promise<WebdavState> => {
      const { enabled, created_at: createdAt, address } = webdav.status();
      return { enabled, created_at: maybeTimestamp(createdAt), address };
    },
  );

  app.post(
    '/webdav',
    { config: { scope: 'page', idempotent: false }, schema: { response: { 200: WebdavSecret } } },
    async () => {
      const { address, user, password } = webdav.turnOn();
      return { address, user, password };
    },
  );

  app.delete('/webdav', { config: { scope: 'page' }, schema: { response: { 200: WebdavOff } } }, async () => {
    webdav.turnOff();
    return { enabled: false as const };
  });
}
