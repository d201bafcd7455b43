/** WebDAV servers keep the contract of a destination. */
import { afterAll, test } from 'vitest';
import { openWebdavDestination } from '../../src/destination/webdav/webdav.ts';
import { destinationContract } from '../contract/destination-suite.ts';
import { startApache } from '../servers/apache.ts';
import { startNginx } from '../servers/nginx.ts';
import { startRcloneWebdav } from '../servers/rclone.ts';
import { startOrSkip } from '../servers/unavailable.ts';
import type { WebdavServer } from '../servers/webdav-server.ts';

for (const [name, start, shortcomings] of [
  ['nginx', startNginx, {}],
  ['Apache with digest authentication', async () => await startApache({ authentication: 'digest' }), {}],
  // Folders are made twice there without a word.
  ['rclone serve webdav', startRcloneWebdav, { racingWriters: true }],
] as const) {
  const found = await startOrSkip<WebdavServer>(start);
  if ('missing' in found) {
    test.skip(`${name} was not tested: ${found.missing}`, () => {});
    continue;
  }
  const { server } = found;
  afterAll(async () => await server.stop());
  let number = 0;
  destinationContract(
    `WebDAV (${name})`,
    async () => {
      const place = server.place(`contract-${(number += 1)}`);
      return {
        open: async () => await openWebdavDestination(place, server.access, { create: true }),
        remove: async () => {},
      };
    },
    shortcomings,
  );
}
