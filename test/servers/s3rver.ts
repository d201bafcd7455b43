/** s3rver, an S3 server of npm that keeps no conditions and cannot list in pages: a store that must not be relied on. */
import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { npmPackage } from './npm-package.ts';
import { freePort, makePlace } from './running.ts';
import type { S3Server } from './s3-server.ts';

export async function startS3rver(): Promise<S3Server> {
  const directory = await npmPackage('s3rver', '3.7.1');
  const place = await makePlace('s3rver');
  try {
    const port = await freePort();
    const program = join(directory, 'node_modules/s3rver/bin/s3rver.js');
    const parameters = [program, '-d', place.directory, '-a', '127.0.0.1', '-p', `${port}`, '--silent'];
    place.keep(spawn(process.execPath, parameters, { stdio: ['ignore', place.log, place.log] }));
    await place.answers(port);
    return {
      endpoint: `http://127.0.0.1:${port}`,
      accessKeyId: 'S3RVER',
      secretAccessKey: 'S3RVER',
      [Symbol.asyncDispose]: async () => await place[Symbol.asyncDispose](),
    };
  } catch (error) {
    await place[Symbol.asyncDispose]();
    throw error;
  }
}
