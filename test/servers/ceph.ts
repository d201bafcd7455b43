/** Ceph with one monitor, one disk (a sparse file) and its S3 gateway: a real object store, as small as it gets. */
import { randomUUID } from 'node:crypto';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { DebianRoot } from './debian-root.ts';
import { freePort, makePlace, type Place } from './running.ts';
import { s3Root } from './s3-root.ts';
import type { S3Server } from './s3-server.ts';

export interface CephServer extends S3Server {
  /** Makes one more user, with rights on no bucket yet. */
  addUser(name: string): Promise<{ readonly accessKeyId: string; readonly secretAccessKey: string }>;
}

interface Cluster {
  readonly root: DebianRoot;
  readonly place: Place;
  readonly configuration: string;
}

/** 15 to 30 seconds. */
export async function startCeph(): Promise<CephServer> {
  const root = await s3Root();
  const place = await makePlace('ceph');
  const cluster = { root, place, configuration: join(place.directory, 'ceph.conf') };
  try {
    const ports = { monitor: await freePort(), gateway: await freePort() };
    await startStore(cluster, ports);
    await startGateway(cluster, ports.gateway);
    return {
      endpoint: `http://127.0.0.1:${ports.gateway}`,
      ...(await addUser(cluster, 'test')),
      addUser: async (name) => await addUser(cluster, name),
      [Symbol.asyncDispose]: async () => await place[Symbol.asyncDispose](),
    };
  } catch (error) {
    await place[Symbol.asyncDispose]();
    throw error;
  }
}

async function startStore(cluster: Cluster, ports: { readonly monitor: number; readonly gateway: number }) {
  const { configuration, place, root } = cluster;
  const { directory } = place;
  for (const name of ['mon', 'osd', 'gateway', 'run']) await mkdir(join(directory, name));
  const clusterId = randomUUID();
  const disk = randomUUID();
  await writeFile(configuration, configurationText(directory, clusterId, ports));
  const map = join(directory, 'map');
  const address = `[v2:127.0.0.1:${ports.monitor}/0]`;
  const run = async (command: string, ...parameters: string[]): Promise<string> =>
    await root.run([directory], command, ...parameters);
  await run(
    'monmaptool',
    '--create',
    '--fsid',
    clusterId,
    '--addv',
    'a',
    address,
    '--set-min-mon-release',
    'tentacle',
    map,
  );
  await run('ceph-mon', '-c', configuration, '-i', 'a', '--mkfs', '--monmap', map);
  place.keep(root.start([directory], place.log, 'ceph-mon', '-c', configuration, '-i', 'a', '-f'));
  await place.answers(ports.monitor);
  await run('ceph', '-c', configuration, '--connect-timeout', '60', 'osd', 'new', disk, '0');
  await run('ceph-osd', '-c', configuration, '-i', '0', '--mkfs', '--osd-uuid', disk);
  place.keep(root.start([directory], place.log, 'ceph-osd', '-c', configuration, '-i', '0', '-f'));
  await place.until('has no disk', async () =>
    (await run('ceph', '-c', configuration, 'osd', 'stat')).includes('1 up'),
  );
}

async function startGateway({ configuration, place, root }: Cluster, port: number): Promise<void> {
  const { directory } = place;
  await root.run(
    [directory],
    'ceph-authtool',
    '--create-keyring',
    join(directory, 'gateway/keyring'),
    '--gen-key',
    '-n',
    'client.gateway',
  );
  place.keep(
    root.start([directory], place.log, 'radosgw', '-c', configuration, '-n', 'client.gateway', '-f'),
  );
  await place.answers(port);
}

async function addUser({ configuration, place, root }: Cluster, name: string) {
  const accessKeyId = `KEY${name.toUpperCase()}`;
  const secretAccessKey = `the-secret-of-${name}`;
  const user = [
    'user',
    'create',
    '--uid',
    name,
    '--display-name',
    name,
    '--access-key',
    accessKeyId,
    '--secret-key',
    secretAccessKey,
  ];
  await root.run([place.directory], 'radosgw-admin', '-c', configuration, ...user);
  return { accessKeyId, secretAccessKey };
}

/** Without authentication inside, and with pools of one copy. */
function configurationText(
  directory: string,
  id: string,
  { monitor, gateway }: { readonly monitor: number; readonly gateway: number },
): string {
  return `[global]
fsid = ${id}
mon host = v2:127.0.0.1:${monitor}/0
mon initial members = a
public network = 127.0.0.0/8
auth cluster required = none
auth service required = none
auth client required = none
run dir = ${directory}/run
admin socket = ${directory}/run/$name.socket
log file = ${directory}/run/$name.log
osd pool default size = 1
osd pool default min size = 1
osd pool default pg num = 8
osd pool default pg autoscale mode = off
osd crush chooseleaf type = 0
mon allow pool size one = true
mon warn on pool no redundancy = false
mon data avail warn = 2
mon data avail crit = 1
ms bind ipv4 = true
ms bind ipv6 = false
[mon.a]
mon data = ${directory}/mon
mon addr = v2:127.0.0.1:${monitor}/0
[osd]
osd data = ${directory}/osd
osd class dir = /usr/lib/x86_64-linux-gnu/rados-classes
osd objectstore = bluestore
bluestore block size = 21474836480
bluestore block create = true
bluestore block db create = false
bluestore block wal create = false
osd memory target = 939524096
osd class update on start = true
[client.gateway]
rgw frontends = beast endpoint=127.0.0.1:${gateway}
rgw enable apis = s3, admin
ms mon client mode = crc
keyring = ${directory}/gateway/keyring
rgw data = ${directory}/gateway
rgw run sync thread = false
rgw enable gc threads = false
rgw enable lc threads = false
rgw dynamic resharding = false
`;
}
