/** moto: S3 in memory, with the answers of Amazon's. It checks no secrets. */
import { freePort, makePlace } from './running.ts';
import { s3Root } from './s3-root.ts';
import type { S3Server } from './s3-server.ts';

export async function startMoto(): Promise<S3Server> {
  const root = await s3Root();
  const place = await makePlace('moto');
  try {
    const port = await freePort();
    place.keep(root.start([], place.log, 'moto_server', '-H', '127.0.0.1', '-p', `${port}`));
    await place.answers(port);
    return {
      endpoint: `http://127.0.0.1:${port}`,
      accessKeyId: 'test',
      secretAccessKey: 'test',
      [Symbol.asyncDispose]: async () => await place[Symbol.asyncDispose](),
    };
  } catch (error) {
    await place[Symbol.asyncDispose]();
    throw error;
  }
}
