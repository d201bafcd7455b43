/** Repositories on SSH and WebDAV servers, and on a remote of rclone. */
import { delimiter, dirname } from 'node:path';
import { afterAll, test } from 'vitest';
import { startApache } from '../servers/apache.ts';
import { startNginx } from '../servers/nginx.ts';
import { startOpenSsh } from '../servers/open-ssh.ts';
import { makeRcloneRemote } from '../servers/rclone.ts';
import { startOrSkip } from '../servers/unavailable.ts';
import { CYCLE_MS, repositoryCycle } from './repository-cycle.ts';

interface Reached {
  readonly location: string;
  readonly variables: Readonly<Record<string, string>>;
  stop(): Promise<void>;
}

async function overSftp(): Promise<Reached> {
  const { user, port, data, access, stop } = await startOpenSsh();
  return {
    location: `sftp://${user}@127.0.0.1:${port}${data}/repository`,
    variables: {
      HOLDFAST_SFTP_KEY_FILE: access.keyFile ?? '',
      HOLDFAST_SFTP_HOST_KEY_FILE: access.hostKeyFile ?? '',
    },
    stop,
  };
}

async function overWebdav(start: typeof startNginx): Promise<Reached> {
  const { port, stop } = await start();
  return { location: `webdav://127.0.0.1:${port}/repository`, variables: {}, stop };
}

async function byRclone(): Promise<Reached> {
  const { access, stop } = await makeRcloneRemote();
  const variables = {
    PATH: `${dirname(access.program)}${delimiter}${process.env['PATH'] ?? ''}`,
    RCLONE_CONFIG: access.configFile ?? '',
  };
  return { location: 'rclone:disk:repository', variables, stop };
}

for (const [name, start] of [
  ['OpenSSH', overSftp],
  ['nginx', async () => await overWebdav(startNginx)],
  ['Apache', async () => await overWebdav(startApache)],
  ['a remote of rclone', byRclone],
] as const) {
  const found = await startOrSkip<Reached>(start);
  if ('missing' in found) {
    test.skip(`${name} was not tested: ${found.missing}`, () => {});
    continue;
  }
  const { location, variables, stop } = found.server;
  afterAll(async () => await stop());
  test(
    `a repository lives on ${name} from its first backup to its restore`,
    { timeout: CYCLE_MS },
    async () => {
      await repositoryCycle(location, variables);
    },
  );
}
