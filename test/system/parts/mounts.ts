/**
 * A disk that is unmounted while the agent runs is free at once, whatever the agent was allowed and whenever the disk was
 * mounted; nothing is written to it afterwards, nor to the directory in its place, and the agent says that it is away.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Bench, Part } from '../bench.ts';
import { GuestAgent, type AgentPlace } from '../guest-agent.ts';
import type { Guest } from '../guest.ts';
import { deviceOf, emptyDisk, type Machine } from '../machine.ts';
import { makeTree } from '../trees.ts';

export const FILE_SYSTEMS = ['ext4', 'xfs', 'btrfs'] as const;
export type FileSystem = (typeof FILE_SYSTEMS)[number];

const FREE_WITHIN_MS = 10_000;
/** Emulated on a busy machine, a request alone takes seconds. */
const SAID_WITHIN_MS = 30_000;

export const mounts: Part = {
  name: 'mounts',
  purpose:
    'disks with ext4, XFS and btrfs are unmounted under a running agent: free, untouched, told as away',
  minutes: 40,
  run: async (bench) => {
    const machine = await bench.machine();
    const agent = new GuestAgent(machine.guest);
    await agent.credential();
    await makeTree(machine.guest, '/srv/papers', 1, 3);
    for (const [number, kind] of FILE_SYSTEMS.entries()) {
      await prepareDisk(bench, machine, kind, 16 + number);
      // As the documents have it: a directory of its own on the disk.
      await machine.guest.run(`install -d -o holdfast -g holdfast -m 0700 /mnt/${kind}/holdfast`);
      const allowed = await machine.guest.try(`holdfast service allow-write /mnt/${kind}/holdfast`, {
        withinMs: 300_000,
      });
      bench.check(
        `${kind}: root lets the service write to a directory on the disk`,
        allowed.code === 0,
        allowed,
      );
      await agent.ready();
      const added = await agent.try(`destinations add ${kind} /mnt/${kind}/holdfast`);
      bench.check(`${kind}: the destination is added`, added.code === 0, added);
      await untilReachable(bench, agent, kind, null, `${kind}, mounted before the agent started`);
      await backUpTo(bench, agent, kind, `${kind}, mounted before the agent started`);
      await unmount(bench, agent, kind, `${kind}, mounted before the agent started`);
    }
    await machine.guest.run('systemctl restart holdfast', { withinMs: 200_000 });
    await agent.ready();
    for (const kind of FILE_SYSTEMS) await comesAndGoes(bench, agent, kind);
    await bench.done(machine);
    await ofAnna(bench);
  },
};

async function prepareDisk(bench: Bench, machine: Machine, kind: FileSystem, slot: number): Promise<void> {
  const file = await emptyDisk(`${bench.place('disks')}/${kind}.qcow2`, '1G');
  await machine.plug({ name: kind, file, slot });
  await machine.guest.run(
    `mkfs.${kind} -q ${deviceOf(kind)} && mkdir -p /mnt/${kind} && mount ${deviceOf(kind)} /mnt/${kind}`,
    {
      withinMs: 200_000,
    },
  );
}

async function backUpTo(bench: Bench, agent: GuestAgent, name: string, when: string): Promise<void> {
  const { id } = await agent.submit('backup', { source: '/srv/papers', destination: name });
  const ended = await agent.finished('backup', id);
  bench.check(`${when}: a backup to it completes`, ended.status === 'completed', ended);
}

/** Mounted for the first time after the start of the agent; one of them twice. */
async function comesAndGoes(bench: Bench, agent: GuestAgent, kind: FileSystem): Promise<void> {
  const turns = ['mounted after the agent started', 'mounted a second time'];
  for (const turn of kind === 'ext4' ? turns : turns.slice(0, 1)) {
    await agent.guest.run(`mount ${deviceOf(kind)} /mnt/${kind}`);
    await untilReachable(bench, agent, kind, true, `${kind}, ${turn}`);
    await makeTree(agent.guest, '/srv/papers', turn.length, 3);
    await backUpTo(bench, agent, kind, `${kind}, ${turn}`);
    await unmount(bench, agent, kind, `${kind}, ${turn}`);
  }
}

/** @param mountPoint where the disk is mounted */
async function unmount(
  bench: Bench,
  agent: GuestAgent,
  name: string,
  when: string,
  mountPoint = `/mnt/${name}`,
): Promise<void> {
  const { guest } = agent;
  const device = (await guest.run(`readlink -f ${deviceOf(name)}`)).trim();
  const gone = await guest.until(`umount ${mountPoint}`, FREE_WITHIN_MS).then(() => '', String);
  const holders = gone === '' ? '' : await guest.run(`fuser -vm ${mountPoint} 2>&1; true`);
  if (!bench.check(`${when}: it can be unmounted`, gone === '', `${gone}\n${holders}`)) return;
  const unmountedMs = performance.now();
  const free = await guest.until(freeScript(device), FREE_WITHIN_MS).then(() => '', String);
  bench.check(`${when}: the unmounted disk is free`, free === '', free);
  note(bench, 'longest until an unmounted disk is free (s)', performance.now() - unmountedMs);
  await untilReachable(bench, agent, name, false, when);
  // A backup that is asked for now must neither reach the disk nor fill the directory in its place.
  const written = `cat /sys/class/block/${device.replace('/dev/', '')}/stat | awk '{ print $7 }'`;
  const before = await guest.run(written);
  const asked = await agent.ask('POST', '/backup', { source: '/srv/papers', destination: name });
  await sleep(5_000);
  const after = await guest.run(written);
  bench.check(`${when}: nothing is written to it afterwards`, before === after, `${before} ${after} sectors`);
  const place = await guest.run(`ls -A ${mountPoint} 2>/dev/null | head`);
  bench.check(
    `${when}: nothing is written where it was`,
    place === '',
    `${place} ${JSON.stringify(asked.body).slice(0, 300)}`,
  );
  const { data } = asked.body as { data?: { id?: string } };
  if (data?.id !== undefined) await agent.ask('POST', `/backup/${data.id}/cancel`);
}

/** Nobody has it in use, in whichever view of the disks: the kernel gives it to one alone. */
function freeScript(device: string): string {
  return `! fuser -s ${device} && /usr/lib/holdfast/bin/node -e 'const { constants: c, openSync } = require("fs"); openSync("${device}", c.O_RDWR | c.O_EXCL)'`;
}

/** @param wanted null for any answer: the agent knows of the destination */
async function untilReachable(
  bench: Bench,
  agent: GuestAgent,
  name: string,
  wanted: boolean | null,
  when: string,
): Promise<void> {
  const beganMs = performance.now();
  let shown: { name: string; reachable: boolean | null } | undefined;
  const isSo = (): boolean => shown !== undefined && (wanted === null || shown.reachable === wanted);
  while (!isSo() && performance.now() - beganMs < SAID_WITHIN_MS) {
    const status = await agent.data<{ destinations: NonNullable<typeof shown>[] }>('GET', '/status');
    shown = status.destinations.find((one) => one.name === name);
    if (!isSo()) await sleep(300);
  }
  const said = wanted === null ? 'speaks of it' : `says that it is ${wanted ? 'there' : 'away'}`;
  bench.check(`${when}: "status" ${said}`, isSo(), shown);
  if (wanted === false)
    note(bench, 'longest until "status" says that it is away (s)', performance.now() - beganMs);
}

/** The unit of one person, whose disk is mounted where desktops do it. */
async function ofAnna(bench: Bench): Promise<void> {
  const machine = await bench.machine();
  const { guest } = machine;
  const place: AgentPlace = {
    unit: 'holdfast-anna.service',
    user: 'anna',
    state: '/home/anna/.local/state/holdfast',
    port: 7391,
    environment: 'HOME=/home/anna',
  };
  const agent = new GuestAgent(guest, place);
  await guest.run(
    `install -d -o anna -g anna /home/anna/.local /home/anna/.local/state; install -d -m 0700 -o anna -g anna ${place.state}`,
  );
  await guest.write(
    `${place.state}/config.json`,
    '{ "listen": { "port": 7391 }, "plan": "business" }\n',
    '0600',
  );
  await guest.run(`chown anna:anna ${place.state}/config.json`);
  await anotherPersonsDisk(bench, machine, guest);
  const made = await guest.try('holdfast service install --for anna --timeout 300', { withinMs: 400_000 });
  bench.check('anna: her unit is installed beside the package', made.code === 0, made);
  await agent.ready();
  await agent.credential();
  await makeTree(guest, '/srv/papers', 1, 3);
  await guest.run('chmod -R a+rX /srv/papers');
  const allowed = await guest.try('holdfast service allow-write /media/anna/disk/holdfast --for anna', {
    withinMs: 300_000,
  });
  bench.check('anna: her service may write to a directory on the disk', allowed.code === 0, allowed);
  await agent.ready();
  const added = await agent.try('destinations add disk /media/anna/disk/holdfast');
  bench.check('anna: the destination is added', added.code === 0, added);
  await backUpTo(bench, agent, 'disk', 'anna');
  await unmount(bench, agent, 'disk', 'anna', '/media/anna/disk');
  await bench.done(machine);
}

async function anotherPersonsDisk(bench: Bench, machine: Machine, guest: Guest): Promise<void> {
  const file = await emptyDisk(`${bench.place('disks')}/disk.qcow2`, '1G');
  await machine.plug({ name: 'disk', file, slot: 20 });
  await guest.run(
    `mkfs.ext4 -q ${deviceOf('disk')} && mkdir -p /media/anna/disk && mount ${deviceOf('disk')} /media/anna/disk && install -d -o anna -g anna -m 0700 /media/anna/disk/holdfast`,
  );
}

function note(bench: Bench, name: string, ms: number): void {
  bench.figures[name] = Math.max(Number(bench.figures[name] ?? 0), Math.round(ms / 100) / 10);
}
