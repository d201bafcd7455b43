/**
 * A machine whose power will go: an agent in the midst of a first backup, of a later one and of a prune that deletes, and a
 * Partner service that takes reports, each on a disk of its own. It is frozen at that moment, once for each build of the
 * program: each cut goes on from there.
 */
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { runCommand } from '../../servers/run-command.ts';
import type { Bench } from '../bench.ts';
import type { MadeDisks } from '../disks/make-disks.ts';
import { DISKS, type DiskName } from '../disks/mounted-disk.ts';
import { inOwnMounts } from '../disks/own-mounts.ts';
import { GuestAgent } from '../guest-agent.ts';
import { systemCache } from '../host.ts';
import { Machine, deviceOf, layerAbove, type Disk } from '../machine.ts';
import { answeredIn, workScript, type JobIds } from './cut-work.ts';
import { FILE_SYSTEMS, type FileSystem } from './mounts.ts';

const DEVICES = 3;
const PORT = 7_400;
const PARTNER_PORT = 7_500;
const FIRST_SLOT = 16;
/** Where emulation shares two cores with others, a process alone takes minutes to start. */
const AT_WORK_WITHIN_MS = 900_000;
const SOURCES = ['make-disks.ts', 'make-partner.ts', 'mounted-disk.ts', '../trees.ts'].map(
  (file) => `../disks/${file}`,
);

/** All files of it lie in one directory, and none of them is ever written to again. */
export interface AtWork {
  readonly kind: FileSystem;
  readonly directory: string;
  readonly made: MadeDisks;
  readonly jobs: JobIds;
  /** The last report of each device that was answered before it was frozen. */
  readonly answered: readonly number[];
}

export type Layers = Readonly<Record<DiskName, string>>;

export async function machineAtWork(bench: Bench, kind: FileSystem): Promise<AtWork> {
  const hash = createHash('sha256').update(readFileSync(bench.packages.current));
  for (const file of [...SOURCES, './cut-machine.ts', './cut-work.ts'])
    hash.update(readFileSync(path.join(import.meta.dirname, file)));
  hash.update((await bench.installed()).root);
  const directory = path.join(systemCache(), `cut-${kind}-${hash.digest('hex').slice(0, 12)}`);
  if (!existsSync(directory)) {
    for (const name of readdirSync(systemCache()))
      if (name.startsWith(`cut-${kind}-`)) rmSync(path.join(systemCache(), name), { recursive: true });
    // Layers name the files below them: it has its name from the beginning, and is whole once the facts are there.
    mkdirSync(directory);
  }
  const facts = path.join(directory, 'facts.json');
  if (!existsSync(facts)) {
    bench.say(`${kind}: making the disks, and a machine at work on them`);
    rmSync(directory, { recursive: true });
    mkdirSync(directory);
    const given = { kind, images: directory, port: PORT, partnerPort: PARTNER_PORT, devices: DEVICES };
    const made = await inOwnMounts<MadeDisks>('make-disks.ts', given, 600_000);
    const begun = await freezeAtWork(bench, kind, directory, made);
    writeFileSync(`${facts}.growing`, JSON.stringify({ made, ...begun }));
    renameSync(`${facts}.growing`, facts);
  }
  const known = JSON.parse(readFileSync(facts, 'utf8')) as Omit<AtWork, 'kind' | 'directory'>;
  return { kind, directory, ...known };
}

async function freezeAtWork(
  bench: Bench,
  kind: FileSystem,
  directory: string,
  made: MadeDisks,
): Promise<Pick<AtWork, 'jobs' | 'answered'>> {
  const layers = await layersAbove(directory, directory, '.raw');
  const machine = await bench.machine();
  const { guest } = machine;
  for (const disk of attached(layers)) await machine.plug(disk);
  await guest.run('systemctl disable --now holdfast.service', { withinMs: 200_000 });
  // Backups that were made here a moment ago are not from a time to come.
  await guest.run(`date -s '@${Math.floor(Date.now() / 1_000)}'`);
  for (const name of DISKS)
    await guest.run(`mkdir -p /mnt/${name} && mount ${deviceOf(name)} /mnt/${name}`, { withinMs: 200_000 });
  await guest.run(
    `chown -R holdfast:holdfast /mnt/state/agent /mnt/*/repository /mnt/partner/state
sed -e 's#^ExecStart=.*#ExecStart=/usr/lib/holdfast/bin/node /usr/lib/holdfast/service/bin/holdfast.js start#' -e 's#^Environment=HOLDFAST_STATE_DIR=.*#Environment=HOLDFAST_STATE_DIR=/mnt/state/agent#' -e '/^\\(StateDirectory\\|Nice\\|CPUWeight\\|IOScheduling\\)/d' -e 's#^ReadWritePaths=.*#ReadWritePaths=/mnt/state /mnt/store /mnt/grown /mnt/fresh#' /usr/lib/systemd/system/holdfast.service >/etc/systemd/system/holdfast-cut.service
systemctl daemon-reload && systemctl start holdfast-cut.service`,
    { withinMs: 400_000 },
  );
  const place = { unit: 'holdfast-cut.service', user: 'holdfast', state: '/mnt/state/agent', port: PORT };
  const agent = new GuestAgent(guest, { ...place, environment: '' });
  await agent.ready();
  await guest.write(`/opt/credential-${PORT}.json`, JSON.stringify(made.credential), '0600');
  const token = await agent.token();
  await guest.run(
    `systemd-run --unit=partner-cut --uid=holdfast --setenv=HOLDFAST_STATE_DIR=/mnt/partner/state --setenv=HOME=/tmp --setenv=XDG_CACHE_HOME=/var/cache/holdfast holdfast partner --config /mnt/partner/state/partner/partner.json`,
  );
  // What it says is seen where it does not come so far.
  await guest.until(
    `curl -fsS -m 20 http://127.0.0.1:${PARTNER_PORT}/readyz || { journalctl --no-pager -u partner-cut | tail -20; false; }`,
    400_000,
    3_000,
  );
  const { devices } = made.partner;
  const seed = bench.settings.seed + FILE_SYSTEMS.indexOf(kind);
  const work = { port: PORT, token, partnerPort: PARTNER_PORT, devices, seed };
  await guest.write('/opt/work.mjs', workScript(work), '0600');
  // It goes on while the machine is frozen, and in each that begins there.
  const running = '/usr/lib/holdfast/bin/node /opt/work.mjs';
  void guest.try(running, { withinMs: AT_WORK_WITHIN_MS }).catch(() => undefined);
  await noted(machine, AT_WORK_WITHIN_MS, (text) => text.includes('AT WORK'));
  await machine.freeze(path.join(directory, 'memory'));
  const notes = readFileSync(machine.notes, 'utf8');
  await runCommand('mv', [path.join(machine.directory, 'root.qcow2'), path.join(directory, 'root.qcow2')]);
  return { jobs: jobsIn(notes), answered: answeredIn(notes).last };
}

/** Goes on from there, with layers of its own in a directory, and nobody waits for it. */
export async function goOnAtWork(
  bench: Bench,
  work: AtWork,
  place: string,
): Promise<{ layers: Layers; machine: Machine }> {
  const layers = await layersAbove(work.directory, place, '.qcow2');
  const root = await layerAbove(path.join(work.directory, 'root.qcow2'), path.join(place, 'root.qcow2'));
  const memory = path.join(work.directory, 'memory');
  const start = { image: bench.booted.image, root, memory, disks: attached(layers) };
  const machine = await Machine.start(path.join(place, 'run'), { ...start, unattended: true });
  return { layers, machine: bench.keep(machine) };
}

async function layersAbove(below: string, place: string, ending: '.raw' | '.qcow2'): Promise<Layers> {
  const layers: Partial<Record<DiskName, string>> = {};
  const format = ending === '.raw' ? 'raw' : 'qcow2';
  for (const name of DISKS) {
    const file = path.join(place, `${name}.qcow2`);
    layers[name] = await layerAbove(path.join(below, `${name}${ending}`), file, format);
  }
  return layers as Layers;
}

function attached(layers: Layers): readonly Disk[] {
  return DISKS.map((name, number) => ({ name, file: layers[name], slot: FIRST_SLOT + number }));
}

/** What the machine has noted once that is enough; not a moment is lost. */
export async function noted(
  machine: Machine,
  withinMs: number,
  isEnough: (text: string) => boolean,
): Promise<string> {
  const untilMs = performance.now() + withinMs;
  for (;;) {
    const text = existsSync(machine.notes) ? readFileSync(machine.notes, 'utf8') : '';
    if (isEnough(text)) return text;
    if (performance.now() > untilMs) throw new Error(`the machine did not come so far: ${text.slice(-500)}`);
    await sleep(10);
  }
}

function jobsIn(notes: string): JobIds {
  const ids = [...notes.matchAll(/^job (\w+) (\S+)$/gm)].map(([, name = '', id = '']) => [name, id]);
  return Object.fromEntries(ids) as Record<keyof JobIds, string>;
}
