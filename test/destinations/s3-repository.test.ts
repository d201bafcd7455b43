/** Repositories on S3 servers. */
import { afterAll, test } from 'vitest';
import { startCeph } from '../servers/ceph.ts';
import { startMoto } from '../servers/moto.ts';
import type { S3Server } from '../servers/s3-server.ts';
import { startOrSkip } from '../servers/unavailable.ts';
import { makeBucket } from '../support/s3-bucket.ts';
import { CYCLE_MS, repositoryCycle } from './repository-cycle.ts';

for (const [name, start] of [
  ['moto', startMoto],
  ['Ceph', startCeph],
] as const) {
  const found = await startOrSkip<S3Server>(start);
  if ('missing' in found) {
    test.skip(`${name} was not tested: ${found.missing}`, () => {});
    continue;
  }
  const { server } = found;
  afterAll(async () => await server[Symbol.asyncDispose]());
  await makeBucket(server, 'repositories');

  test(
    `a repository lives on ${name} from its first backup to its restore`,
    { timeout: CYCLE_MS },
    async () => {
      const endpoint = encodeURIComponent(server.endpoint);
      await repositoryCycle(`s3://repositories/laptop one?endpoint=${endpoint}`, {
        AWS_ACCESS_KEY_ID: server.accessKeyId,
        AWS_SECRET_ACCESS_KEY: server.secretAccessKey,
      });
    },
  );
}
