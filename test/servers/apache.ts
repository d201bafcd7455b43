/** Debian's Apache with mod_dav, unpacked and not installed, as whoever runs the tests. */
import { createHash } from 'node:crypto';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { debianPrograms } from './debian-programs.ts';
import { freePort } from './running.ts';
import { removeDirectory, runServer, scratchDirectory } from './running-server.ts';
import { webdavPlaceAt } from './webdav-server.ts';
import type { WebdavServer } from './webdav-server.ts';

export interface ApacheOptions {
  readonly authentication?: 'basic' | 'digest';
}

const ACCOUNT = { user: 'keeper', password: 'not "so" secret' };
const REALM = 'holdfast tests';

/** @throws {ServerUnavailable} */
export async function startApache({ authentication }: ApacheOptions = {}): Promise<WebdavServer> {
  const programs = await debianPrograms('apache', ['apache2-bin']);
  const directory = await scratchDirectory('apache');
  for (const name of ['data', 'run']) await mkdir(join(directory, name));
  const port = await freePort();
  const file = join(directory, 'apache.conf');
  await writeFile(join(directory, 'passwords'), passwords(authentication));
  await writeFile(file, configuration(programs.directory, directory, port, authentication));
  const running = await runServer(port, directory, {
    program: join(programs.directory, 'usr/sbin/apache2'),
    // One process, so that killing it leaves none.
    parameters: ['-X', '-f', file],
    environment: programs.environment,
  });
  return {
    port,
    data: join(directory, 'data'),
    access: authentication === undefined ? {} : { password: ACCOUNT.password },
    place: (name) => webdavPlaceAt(port, name, authentication === undefined ? undefined : ACCOUNT.user),
    log: running.log,
    stop: async () => {
      await running.kill();
      await removeDirectory(directory);
    },
  };
}

function passwords(authentication: ApacheOptions['authentication']): string {
  const { user, password } = ACCOUNT;
  if (authentication === 'digest') {
    const digest = createHash('md5').update(`${user}:${REALM}:${password}`).digest('hex');
    return `${user}:${REALM}:${digest}\n`;
  }
  return `${user}:{SHA}${createHash('sha1').update(password).digest('base64')}\n`;
}

function configuration(
  programs: string,
  directory: string,
  port: number,
  authentication: ApacheOptions['authentication'],
): string {
  const modules = [
    'mpm_event',
    'authn_core',
    'authz_core',
    'authz_user',
    'dav',
    'dav_fs',
    ...(authentication === undefined ? [] : ['authn_file', `auth_${authentication}`]),
  ];
  const name = authentication === 'digest' ? 'Digest' : 'Basic';
  const access =
    authentication === undefined
      ? 'Require all granted'
      : `AuthType ${name}
  AuthName "${REALM}"
  Auth${name}Provider file
  AuthUserFile ${directory}/passwords
  Require valid-user`;
  return `
ServerRoot ${directory}
ServerName 127.0.0.1
Listen 127.0.0.1:${port}
PidFile ${directory}/run/pid
DefaultRuntimeDir ${directory}/run
ErrorLog ${directory}/errors
${modules.map((module) => `LoadModule ${module}_module ${programs}/usr/lib/apache2/modules/mod_${module}.so`).join('\n')}
ThreadsPerChild 32
ThreadLimit 64
DavLockDB ${directory}/run/locks
DocumentRoot ${directory}/data
LimitRequestBody 0
<Directory ${directory}/data>
  ${access}
  Dav On
</Directory>
`;
}
