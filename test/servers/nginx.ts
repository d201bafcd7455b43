/** Debian's nginx with its WebDAV modules, unpacked and not installed, as whoever runs the tests. */
import { mkdir, writeFile } from 'node:fs/promises';
import { userInfo } from 'node:os';
import { join } from 'node:path';
import { debianPrograms } from './debian-programs.ts';
import { freePort } from './running.ts';
import { removeDirectory, runServer, scratchDirectory } from './running-server.ts';
import { webdavPlaceAt } from './webdav-server.ts';
import type { WebdavServer } from './webdav-server.ts';

/** @throws {ServerUnavailable} */
export async function startNginx(): Promise<WebdavServer> {
  const programs = await debianPrograms('nginx', ['nginx', 'libnginx-mod-http-dav-ext']);
  const directory = await scratchDirectory('nginx');
  const data = join(directory, 'data');
  for (const name of ['data', 'parts', 'other']) await mkdir(join(directory, name));
  const port = await freePort();
  const file = join(directory, 'nginx.conf');
  await writeFile(file, configuration(programs.directory, directory, port));
  const running = await runServer(port, directory, {
    program: join(programs.directory, 'usr/sbin/nginx'),
    parameters: ['-c', file, '-p', directory, '-e', join(directory, 'errors')],
    environment: programs.environment,
  });
  return {
    port,
    data,
    access: {},
    place: (name) => webdavPlaceAt(port, name),
    log: running.log,
    stop: async () => {
      await running.kill();
      await removeDirectory(directory);
    },
  };
}

function configuration(programs: string, directory: string, port: number): string {
  const other = ['proxy', 'fastcgi', 'uwsgi', 'scgi']
    .map((name) => `  ${name}_temp_path ${directory}/other;`)
    .join('\n');
  return `
load_module ${programs}/usr/lib/nginx/modules/ngx_http_dav_ext_module.so;
daemon off;
# One process, so that killing it leaves none.
master_process off;
pid ${directory}/pid;
${process.getuid?.() === 0 ? `user ${userInfo().username};` : ''}
events { worker_connections 2048; }
http {
  access_log off;
  client_max_body_size 0;
  client_body_temp_path ${directory}/parts;
${other}
  dav_ext_lock_zone zone=locks:1m;
  server {
    listen 127.0.0.1:${port};
    root ${directory}/data;
    location / {
      dav_methods PUT DELETE MKCOL COPY MOVE;
      dav_ext_methods PROPFIND OPTIONS LOCK UNLOCK;
      dav_ext_lock zone=locks;
    }
  }
}
`;
}
