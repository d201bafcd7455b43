/** A machine in QEMU: started, frozen, gone on with, cut off from power. Each disk is a layer above one that stays as it is. */
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, existsSync, mkdirSync, openSync, readFileSync, renameSync, rmSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { runCommand } from '../servers/run-command.ts';
import { Guest } from './guest.ts';
import { acceleration } from './host.ts';
import type { Image } from './image.ts';
import { JsonLinesSocket, type Json } from './json-lines-socket.ts';

/** A disk beside that of the system; the machine finds it as /dev/disk/by-id/virtio-NAME. */
export interface Disk {
  readonly name: string;
  readonly file: string;
  /** Its place on the bus, which has to be the same when a frozen machine goes on: 16 to 31. */
  readonly slot: number;
}

/** What a machine is started from. */
export interface Start {
  readonly image: Image;
  /** The qcow2 of the system; written to. */
  readonly root: string;
  readonly disks?: readonly Disk[];
  readonly memoryMiB?: number;
  /** The memory of a machine that was frozen; without it, it boots. */
  readonly memory?: string;
  /** What it was doing when it was frozen it goes on with, and nobody waits until it can be asked for more. */
  readonly unattended?: boolean;
}

/** What a frozen machine has to find as it was. One processor: an emulated one takes a real one, and others work here too. */
export const MACHINE = wordsOf('-machine pc -smp 1 -display none -nodefaults -no-user-config -no-reboot');

/** Below 1 GiB an agent ends the process of each job with it, and here one takes half a minute to start. */
export const USUAL_MIB = 1_536;

const BOOT_MS = 400_000;
const GUEST_MS = 120_000;

/** A run that fails leaves its machine behind. */
const running = new Set<ChildProcess>();
process.once('exit', () => {
  for (const child of running) child.kill('SIGKILL');
});
// Only one that ends by itself says that it does.
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(130));

export class Machine {
  readonly directory: string;
  readonly #guest: Guest | undefined;
  readonly #process: ChildProcess;
  readonly #control: JsonLinesSocket;
  readonly startedMs: number;

  private constructor(
    directory: string,
    process: ChildProcess,
    control: JsonLinesSocket,
    guest: Guest | undefined,
    startedMs: number,
  ) {
    this.directory = directory;
    this.#process = process;
    this.#control = control;
    this.#guest = guest;
    this.startedMs = startedMs;
  }

  /** @param directory for sockets and what the machine prints */
  static async start(directory: string, start: Start): Promise<Machine> {
    mkdirSync(directory, { recursive: true });
    const at = (name: string): string => path.join(directory, name);
    for (const name of ['qmp', 'qga']) rmSync(at(name), { force: true });
    const log = openSync(at('qemu.log'), 'a');
    const child = spawn('nice', ['-n', '5', 'qemu-system-x86_64', ...words(start, at)], {
      stdio: ['ignore', log, log],
    });
    closeSync(log);
    running.add(child);
    child.once('exit', () => running.delete(child));
    const ended = Promise.withResolvers<never>();
    child.once('exit', (code, signal) => ended.reject(new Error(`QEMU ended with ${code ?? signal}`)));
    // Later on whoever waits for the machine is told by its sockets.
    ended.promise.catch(() => undefined);
    try {
      return await Promise.race([ended.promise, Machine.#reach(directory, child, start)]);
    } catch (error) {
      child.kill('SIGKILL');
      const said = ['qemu.log', 'console'].map((name) =>
        existsSync(at(name)) ? readFileSync(at(name), 'utf8').slice(-2_000) : '',
      );
      throw new Error(`the machine did not start: ${said.join('\n')}`, { cause: error });
    }
  }

  static async #reach(
    directory: string,
    child: ChildProcess,
    { memory, unattended }: Start,
  ): Promise<Machine> {
    const isFrozen = memory !== undefined;
    const beganMs = performance.now();
    const at = (name: string): string => path.join(directory, name);
    const control = await JsonLinesSocket.open(at('qmp'), 20_000);
    await control.ask({ execute: 'qmp_capabilities' }, 20_000);
    if (isFrozen) await untilRunning(control);
    if (unattended === true) return new Machine(directory, child, control, undefined, 0);
    const guest = await Guest.reach(at('qga'), isFrozen ? GUEST_MS : BOOT_MS);
    return new Machine(directory, child, control, guest, performance.now() - beganMs);
  }

  /** A request to QEMU itself. */
  async control(execute: string, parameters: Json = {}, withinMs = 60_000): Promise<unknown> {
    const answer = await this.#control.ask({ execute, arguments: parameters }, withinMs);
    if ('error' in answer) throw new Error(`${execute}: ${JSON.stringify(answer['error'])}`);
    return answer['return'];
  }

  get guest(): Guest {
    if (this.#guest === undefined) throw new Error('nobody waits for this machine');
    return this.#guest;
  }

  /** What the machine wrote to /dev/virtio-ports/notes, which no cut of its power takes back. */
  get notes(): string {
    return path.join(this.directory, 'notes');
  }

  async plug({ name, file, slot }: Disk, kind: 'virtio' | 'usb' = 'virtio'): Promise<void> {
    await this.control('blockdev-add', {
      driver: 'qcow2',
      'node-name': name,
      discard: 'unmap',
      file: { driver: 'file', filename: file },
    });
    await this.control(
      'device_add',
      kind === 'usb'
        ? { driver: 'usb-storage', id: `dev-${name}`, drive: name, serial: name, bus: 'usb.0' }
        : {
            driver: 'virtio-blk-pci',
            id: `dev-${name}`,
            drive: name,
            serial: name,
            bus: 'pci.0',
            addr: hex(slot),
          },
    );
    await this.guest.until(`udevadm settle; test -b ${deviceOf(name, kind)}`, 60_000);
  }

  /** Pulled out, whether or not it is in use. */
  async unplug(name: string): Promise<void> {
    await this.control('device_del', { id: `dev-${name}` });
    const untilMs = performance.now() + 60_000;
    // Until the machine has let go of it, its file is in use.
    for (;;) {
      try {
        await this.control('blockdev-del', { 'node-name': name });
        return;
      } catch (error) {
        if (performance.now() > untilMs) throw error;
        await sleep(100);
      }
    }
  }

  /** Orderly, from within. */
  async powerOff(): Promise<void> {
    const exited = once(this.#process, 'exit');
    await this.control('system_powerdown');
    const patience = setTimeout(() => this.#process.kill('SIGKILL'), 180_000);
    await exited;
    clearTimeout(patience);
    this.#close();
  }

  /** What the machine had not yet brought to its disks is gone, and what its disks had not been told to keep. */
  async cutPower(): Promise<void> {
    if (this.#process.exitCode !== null || this.#process.signalCode !== null) return;
    const exited = once(this.#process, 'exit');
    this.#process.kill('SIGKILL');
    await exited;
    this.#close();
  }

  /** Ends it with its memory in a file: with the disks as they are then, it can be gone on with any number of times. */
  async freeze(file: string): Promise<void> {
    await this.control('stop');
    const growing = `${file}.growing`;
    await this.control('migrate-set-parameters', { 'max-bandwidth': 0x4_0000_0000 });
    await this.control('migrate', { uri: `exec:cat > '${growing}'` });
    const untilMs = performance.now() + 300_000;
    for (;;) {
      const { status } = (await this.control('query-migrate')) as { status?: string };
      if (status === 'completed') break;
      if (status === 'failed' || performance.now() > untilMs)
        throw new Error(`the machine cannot be frozen: ${status}`);
      await sleep(200);
    }
    const exited = once(this.#process, 'exit');
    await this.control('quit');
    await exited;
    this.#close();
    renameSync(growing, file);
  }

  #close(): void {
    this.#guest?.close();
    this.#control.close();
  }
}

/** Where the machine finds a disk. */
export function deviceOf(name: string, kind: 'virtio' | 'usb' = 'virtio'): string {
  // One that comes back has another letter while anybody still has the one of before open.
  return `/dev/disk/by-id/${kind === 'usb' ? `usb-QEMU_QEMU_HARDDISK_${name}-0:0` : `virtio-${name}`}`;
}

async function untilRunning(control: JsonLinesSocket): Promise<void> {
  const untilMs = performance.now() + 120_000;
  for (;;) {
    const { return: state } = await control.ask({ execute: 'query-status' }, 20_000);
    const { status } = state as { status: string };
    if (status === 'running') return;
    if (status === 'paused') await control.ask({ execute: 'cont' }, 20_000);
    if (performance.now() > untilMs) throw new Error(`the frozen machine does not go on: ${status}`);
    await sleep(10);
  }
}

function words(
  { image, root, disks = [], memoryMiB = USUAL_MIB, memory }: Start,
  at: (name: string) => string,
): string[] {
  const drive = (id: string, file: string, slot?: number): string[] => [
    '-blockdev',
    `driver=qcow2,node-name=${id},discard=unmap,file.driver=file,file.filename=${file}`,
    '-device',
    `virtio-blk-pci,id=dev-${id},drive=${id},serial=${id}${slot === undefined ? '' : `,bus=pci.0,addr=${hex(slot)}`}`,
  ];
  return [
    ...acceleration(),
    ...MACHINE,
    ...wordsOf('-device virtio-rng-pci -device qemu-xhci,id=usb -device virtio-serial-pci'),
    ...wordsOf('-device virtserialport,chardev=qga,name=org.qemu.guest_agent.0'),
    ...wordsOf('-device virtserialport,chardev=notes,name=notes'),
    '-m',
    String(memoryMiB),
    '-kernel',
    image.kernel,
    '-initrd',
    image.initrd,
    '-append',
    // An emulated timer is late on a busy machine, which is no reason not to boot.
    'root=/dev/vda rw console=ttyS0 quiet mitigations=off no_timer_check panic=1',
    '-serial',
    `file:${at('console')}`,
    '-qmp',
    `unix:${at('qmp')},server=on,wait=off`,
    '-chardev',
    `socket,path=${at('qga')},server=on,wait=off,id=qga`,
    '-chardev',
    `file,path=${at('notes')},id=notes`,
    ...drive('root', root),
    ...disks.flatMap(({ name, file, slot }) => drive(name, file, slot)),
    ...(memory === undefined ? [] : ['-incoming', `exec:cat '${memory}'`]),
  ];
}

function wordsOf(text: string): readonly string[] {
  return text.split(' ');
}

function hex(slot: number): string {
  return `0x${slot.toString(16)}`;
}

/** An empty layer above a file that stays as it is. */
export async function layerAbove(
  below: string,
  file: string,
  format: 'qcow2' | 'raw' = 'qcow2',
): Promise<string> {
  await runCommand('qemu-img', ['create', '-q', '-f', 'qcow2', '-F', format, '-b', below, file]);
  return file;
}

export async function emptyDisk(file: string, size: string): Promise<string> {
  await runCommand('qemu-img', ['create', '-q', '-f', 'qcow2', file, size]);
  return file;
}
