/** A USB disk is pulled out while the agent backs up to it, and while it rests; then it comes back. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Bench, Part } from '../bench.ts';
import { GuestAgent } from '../guest-agent.ts';
import { deviceOf, emptyDisk, type Disk, type Machine } from '../machine.ts';
import { makeTree, restoredAlike } from '../trees.ts';

const DEVICE = deviceOf('stick', 'usb');

export const usb: Part = {
  name: 'usb',
  purpose: 'a USB disk is pulled out in the midst of a backup, and put in again',
  minutes: 20,
  run: async (bench) => {
    const machine = await bench.machine();
    const { guest } = machine;
    const agent = new GuestAgent(guest);
    await agent.credential();
    const disk = stickAt(bench);
    await emptyDisk(disk.file, '2G');
    await machine.plug(disk, 'usb');
    await guest.run(
      `mkfs.ext4 -q ${DEVICE} && mkdir -p /media/stick && mount ${DEVICE} /media/stick && install -d -o holdfast -g holdfast -m 0700 /media/stick/holdfast`,
      { withinMs: 200_000 },
    );
    await guest.run('holdfast service allow-write /media/stick/holdfast', { withinMs: 300_000 });
    await agent.ready();
    await agent.run('destinations add stick /media/stick/holdfast');
    await makeTree(guest, '/srv/papers', 1, 6);
    const first = await agent.finished(
      'backup',
      (await agent.submit('backup', { source: '/srv/papers', destination: 'stick' })).id,
    );
    bench.check('a backup to the USB disk completes', first.status === 'completed', first);
    await makeTree(guest, '/srv/papers', 2, 90);
    const before = await sizeOf(agent);
    const { id } = await agent.submit('backup', { source: '/srv/papers', destination: 'stick' });
    const untilMs = performance.now() + 120_000;
    while ((await sizeOf(agent)) < before + 1_000 && performance.now() < untilMs) await sleep(200);
    await machine.unplug('stick');
    const pulledMs = performance.now();
    // What the system keeps of a disk that is gone is cleared away by whoever administers it.
    await guest.run('umount -l /media/stick 2>/dev/null; true');
    await agent.guest.until(`! test -e ${DEVICE}`, 60_000);
    await sleep(3_000);
    const during = await agent.job('backup', id);
    bench.check('the backup that was hit is not told as completed', during.status !== 'completed', during);
    bench.check('"status" says that the disk is away', (await reachable(agent)) === false);
    bench.figures['pulled out until told as away, at most (s)'] =
      Math.round((performance.now() - pulledMs) / 100) / 10;
    const place = await guest.run('ls -A /media/stick');
    bench.check('nothing is written where it was', place === '', place);
    await machine.plug(disk, 'usb');
    await guest.run(`mount ${DEVICE} /media/stick`);
    const again = await agent.submit('backup', { source: '/srv/papers', destination: 'stick' });
    const ended = await agent.finished('backup', again.id);
    bench.check('once it is back the next backup completes', ended.status === 'completed', ended);
    const hit = await agent.finished('backup', id);
    bench.check('so does the one that was hit', hit.status === 'completed', hit);
    const alike = await restoredAlike(guest, agent, `${ended.snapshot_id}`, '/srv/papers', '-r stick');
    bench.check('and restores to what stood there', alike === '', alike);
    const checked = await agent.try('check -r stick --read-data');
    bench.check('the repository on the USB disk is whole', checked.code === 0, checked);
    await atRest(bench, machine, agent);
    await bench.done(machine);
  },
};

function stickAt(bench: Bench): Disk {
  return { name: 'stick', file: `${bench.place('disks')}/stick.qcow2`, slot: 16 };
}

/** A backup that is asked for while the disk is away waits for it. */
async function atRest(bench: Bench, machine: Machine, agent: GuestAgent): Promise<void> {
  const { guest } = machine;
  await machine.unplug('stick');
  await guest.run('umount -l /media/stick 2>/dev/null; true');
  const { id } = await agent.submit('backup', { source: '/srv/papers', destination: 'stick' });
  await sleep(10_000);
  const waiting = await agent.job('backup', id);
  bench.check('pulled out at rest: a backup waits', waiting.finished_at === null, waiting);
  bench.check('pulled out at rest: "status" says that the disk is away', (await reachable(agent)) === false);
  const place = await guest.run('ls -A /media/stick');
  bench.check('pulled out at rest: nothing is written where it was', place === '', place);
  await machine.plug(stickAt(bench), 'usb');
  await guest.run(`mount ${DEVICE} /media/stick`);
  const beganMs = performance.now();
  const ended = await agent.finished('backup', id);
  bench.check('the backup that waited completes by itself', ended.status === 'completed', ended);
  bench.figures['mounted again until the backup that waited is over (s)'] =
    Math.round((performance.now() - beganMs) / 100) / 10;
}

async function reachable(agent: GuestAgent): Promise<boolean | null | undefined> {
  const { destinations } = await agent.data<{
    destinations: { name: string; reachable: boolean | null }[];
  }>('GET', '/status');
  return destinations.find(({ name }) => name === 'stick')?.reachable;
}

async function sizeOf(agent: GuestAgent): Promise<number> {
  return Number(await agent.guest.run('du -sk /media/stick/holdfast 2>/dev/null | cut -f1 || echo 0'));
}
