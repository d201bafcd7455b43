/** Azurite: Azure Blob Storage as its makers emulate it. */
import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { npmPackage } from './npm-package.ts';
import { freePort, makePlace } from './running.ts';

export interface AzureServer extends AsyncDisposable {
  readonly endpoint: string;
  readonly account: string;
  readonly accountKey: string;
}

export async function startAzurite(): Promise<AzureServer> {
  const directory = await npmPackage('azurite', '3.35.0');
  const place = await makePlace('azurite');
  try {
    const port = await freePort();
    const accountKey = Buffer.from('a key of a test and of nothing else').toString('base64');
    const program = join(directory, 'node_modules/azurite/dist/src/blob/main.js');
    const parameters = ['--blobHost', '127.0.0.1', '--blobPort', `${port}`, '--inMemoryPersistence'];
    place.keep(
      spawn(
        process.execPath,
        [program, ...parameters, '--disableTelemetry', '--skipApiVersionCheck', '--silent'],
        {
          env: { ...process.env, AZURITE_ACCOUNTS: `test0:${accountKey}` },
          stdio: ['ignore', place.log, place.log],
        },
      ),
    );
    await place.answers(port);
    return {
      endpoint: `http://127.0.0.1:${port}/test0`,
      account: 'test0',
      accountKey,
      [Symbol.asyncDispose]: async () => await place[Symbol.asyncDispose](),
    };
  } catch (error) {
    await place[Symbol.asyncDispose]();
    throw error;
  }
}
