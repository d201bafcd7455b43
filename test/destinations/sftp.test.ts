/** SSH servers keep the contract of a destination. */
import { afterAll, test } from 'vitest';
import type { SftpAccess } from '../../src/destination/access.ts';
import type { SftpPlace } from '../../src/destination/location.ts';
import { withRetry } from '../../src/destination/retry.ts';
import { openSftpDestination } from '../../src/destination/sftp/sftp.ts';
import { destinationContract } from '../contract/destination-suite.ts';
import { startOpenSsh } from '../servers/open-ssh.ts';
import { startRcloneSftp } from '../servers/rclone.ts';
import { startOrSkip } from '../servers/unavailable.ts';

interface Server {
  place(name: string): SftpPlace;
  readonly access: SftpAccess;
  stop(): Promise<void>;
}

for (const [name, start, shortcomings, forgets] of [
  ['OpenSSH', startOpenSsh, {}, false],
  // Takes every exclusive creation for a good one, and may not see at once what was made in a new directory.
  ['rclone serve sftp', startRcloneSftp, { racingWriters: true }, true],
] as const) {
  const found = await startOrSkip<Server>(start);
  if ('missing' in found) {
    test.skip(`${name} was not tested: ${found.missing}`, () => {});
    continue;
  }
  const { server } = found;
  afterAll(async () => await server.stop());
  let number = 0;
  destinationContract(
    `SFTP (${name})`,
    async () => {
      const place = server.place(`contract-${(number += 1)}`);
      return {
        open: async () => {
          const destination = await openSftpDestination(place, server.access, { create: true });
          return forgets ? withRetry(destination) : destination;
        },
        remove: async () => {},
      };
    },
    shortcomings,
  );
}
