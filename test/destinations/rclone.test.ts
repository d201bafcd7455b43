/** A remote of rclone keeps the contract of a destination, but for racing writers. */
import { afterAll, test } from 'vitest';
import { openRcloneDestination } from '../../src/destination/rclone/rclone.ts';
import { destinationContract } from '../contract/destination-suite.ts';
import { makeRcloneRemote } from '../servers/rclone.ts';
import { startOrSkip } from '../servers/unavailable.ts';

const found = await startOrSkip(makeRcloneRemote);
if ('missing' in found) test.skip(`rclone was not tested: ${found.missing}`, () => {});
else {
  const { server } = found;
  afterAll(async () => await server.stop());
  let number = 0;
  destinationContract(
    'rclone',
    async () => {
      const place = server.place(`contract-${(number += 1)}`);
      return {
        open: async () => await openRcloneDestination(place, server.access, { create: true }),
        remove: async () => {},
      };
    },
    { racingWriters: true },
  );
}
