/** Machines that are frozen at a point from which many scenarios begin, so that each of them costs seconds and no boot. */
import { createHash } from 'node:crypto';
import { execFileSync } from 'node:child_process';
import {
  cpSync,
  existsSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import path from 'node:path';
import { runCommand } from '../servers/run-command.ts';
import { GuestAgent } from './guest-agent.ts';
import { acceleration } from './host.ts';
import type { Image } from './image.ts';
import { MACHINE, Machine, USUAL_MIB, layerAbove, type Start } from './machine.ts';

/** Disk and memory of a machine that stands still. Neither is ever written to again. */
export interface Frozen {
  readonly image: Image;
  readonly root: string;
  readonly memory: string;
  readonly facts: Readonly<Record<string, number>>;
}

type Say = (line: string) => void;

/** Booted, and nothing else. */
export async function booted(image: Image, say: Say): Promise<Frozen> {
  const version = execFileSync('qemu-system-x86_64', ['--version'], { encoding: 'utf8' });
  const directory = stageOf(image, 'booted', [version, ...acceleration(), ...MACHINE, String(USUAL_MIB)]);
  return await frozenAt(directory, image, async (growing) => {
    say('booting the image for the first time');
    const root = await layerAbove(image.disk, path.join(growing, 'root.qcow2'), 'raw');
    const machine = await Machine.start(path.join(growing, 'run'), { image, root });
    const bootMs = Math.round(machine.startedMs);
    // They keep services from starting while the image is made, and were taken away only after it was copied.
    await machine.guest.run(
      'cd /usr/sbin; rm -f policy-rc.d; [ ! -e start-stop-daemon.REAL ] || mv start-stop-daemon.REAL start-stop-daemon',
    );
    await machine.guest.run(
      'systemctl is-system-running --wait || true; systemctl --failed --no-legend; sync',
      {
        withinMs: 300_000,
      },
    );
    await machine.freeze(path.join(growing, 'memory'));
    return { bootMs };
  });
}

/** With the package installed, its service running, and nothing to back up yet. */
export async function installed(from: Frozen, deb: string, say: Say): Promise<Frozen> {
  const directory = stageOf(from.image, 'installed', [from.root, readFileSync(deb), 'with a credential']);
  return await frozenAt(directory, from.image, async (growing) => {
    say('installing the package');
    const root = await layerAbove(from.root, path.join(growing, 'root.qcow2'));
    const machine = await Machine.start(path.join(growing, 'run'), { ...from, root });
    const beganMs = performance.now();
    await withPackages(machine, growing, [deb], async (place) => {
      await machine.guest.run(`dpkg --install ${place}/${path.basename(deb)}`, { withinMs: 400_000 });
    });
    const installMs = Math.round(performance.now() - beganMs);
    await machine.guest.until(
      'systemctl is-active holdfast.service && test -e /var/lib/holdfast/run/holdfast.json',
      300_000,
    );
    const readyMs = Math.round(performance.now() - beganMs);
    // A test asks more often than the smallest plan allows.
    await machine.guest.run(
      'cd / && runuser -u holdfast -- holdfast config set plan business && systemctl restart holdfast.service',
      { withinMs: 300_000 },
    );
    const agent = new GuestAgent(machine.guest);
    await agent.ready();
    await agent.credential();
    await machine.guest.run('sync');
    await machine.freeze(path.join(growing, 'memory'));
    return { installMs, readyMs };
  });
}

/** Puts packages into the machine by way of a disk, which is gone afterwards. */
export async function withPackages(
  machine: Machine,
  scratch: string,
  packages: readonly string[],
  use: (place: string) => Promise<void>,
): Promise<void> {
  const directory = path.join(scratch, 'packages');
  const [raw, file] = [path.join(scratch, 'packages.img'), path.join(scratch, 'packages.qcow2')];
  mkdirSync(directory, { recursive: true });
  for (const one of packages) cpSync(one, path.join(directory, path.basename(one)));
  await runCommand('mke2fs', ['-q', '-F', '-t', 'ext4', '-d', directory, raw, '600M'], {
    env: { ...process.env, PATH: `${process.env['PATH'] ?? ''}:/usr/sbin:/sbin` },
  });
  await layerAbove(raw, file, 'raw');
  await machine.plug({ name: 'packages', file, slot: 0x1f });
  await machine.guest.run('mkdir -p /run/packages && mount /dev/disk/by-id/virtio-packages /run/packages');
  await use('/run/packages');
  await machine.guest.run('umount /run/packages');
  await machine.unplug('packages');
  for (const name of [raw, file]) rmSync(name);
  rmSync(directory, { recursive: true });
}

/** A machine that goes on from where another one was frozen, with a layer of its own above the disk. */
export async function goOn(from: Frozen, directory: string, more: Partial<Start> = {}): Promise<Machine> {
  mkdirSync(directory, { recursive: true });
  const root = path.join(directory, 'root.qcow2');
  rmSync(root, { force: true });
  await layerAbove(from.root, root);
  return await Machine.start(directory, { ...from, ...more, root });
}

/** A machine that boots from what a frozen one has on its disk. */
export async function bootFrom(from: Frozen, directory: string, more: Partial<Start> = {}): Promise<Machine> {
  mkdirSync(directory, { recursive: true });
  const root = path.join(directory, 'root.qcow2');
  rmSync(root, { force: true });
  await layerAbove(from.root, root);
  return await Machine.start(directory, { image: from.image, ...more, root });
}

function stageOf(image: Image, name: string, made: readonly (string | Buffer)[]): string {
  const hash = createHash('sha256');
  for (const part of made) hash.update(part).update('\0');
  return path.join(image.directory, `${name}-${hash.digest('hex').slice(0, 12)}`);
}

async function frozenAt(
  directory: string,
  image: Image,
  make: (growing: string) => Promise<Readonly<Record<string, number>>>,
): Promise<Frozen> {
  const at = (name: string): string => path.join(directory, name);
  if (!existsSync(at('facts.json'))) {
    // Those of other packages, and what was broken off.
    const kind = path.basename(directory).replace(/-.*/, '-');
    for (const other of readdirSync(image.directory))
      if (other.startsWith(kind)) rmSync(path.join(image.directory, other), { recursive: true, force: true });
    const growing = `${directory}.growing`;
    mkdirSync(growing, { recursive: true });
    const facts = await make(growing);
    rmSync(path.join(growing, 'run'), { recursive: true, force: true });
    writeFileSync(path.join(growing, 'facts.json'), JSON.stringify(facts));
    renameSync(growing, directory);
  }
  const facts = JSON.parse(readFileSync(at('facts.json'), 'utf8')) as Record<string, number>;
  return { image, root: at('root.qcow2'), memory: at('memory'), facts };
}
