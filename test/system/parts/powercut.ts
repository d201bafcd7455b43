/**
 * The power goes in the midst of first backups, of later ones and of prunes that are deleting, on three file systems at
 * once: an agent with its repositories on each. A cut counts for a file system when its repository had grown, or shrunk, and
 * its job was not over. What is left is judged by disks/judge-disk.ts.
 */
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { runCommand } from '../../servers/run-command.ts';
import { seededRandom, type SeededRandom } from '../../support/seeded-random.ts';
import type { Bench, Part } from '../bench.ts';
import type { Judged, Verdict } from '../disks/judge-disk.ts';
import type { MadeDisk } from '../disks/make-disk.ts';
import { inOwnMounts, mountableHere } from '../disks/own-mounts.ts';
import { GuestAgent } from '../guest-agent.ts';
import { systemCache } from '../host.ts';
import { Machine, deviceOf, layerAbove, type Disk } from '../machine.ts';
import { FILE_SYSTEMS, type FileSystem } from './mounts.ts';

const KINDS = ['prune', 'first', 'later'] as const;
type Kind = (typeof KINDS)[number];

/** Of each kind: three file systems at once, and not each cut hits all of them. */
const USUAL_ROUNDS = 9;
const MEMORY_MIB = 2_048;
/** Where emulation shares two cores with others, a process alone takes minutes to start. */
const AT_WORK_WITHIN_MS = 900_000;
const MEBIBYTES = 12;

interface AgentDisk {
  readonly kind: FileSystem;
  readonly raw: string;
  readonly made: MadeDisk;
  readonly port: number;
}

interface Ready {
  readonly disks: readonly AgentDisk[];
  readonly root: string;
  readonly layers: ReadonlyMap<FileSystem, string>;
  readonly memory: string;
}

export const powercut: Part = {
  name: 'powercut',
  purpose: 'the power goes in first and later backups and in prunes that delete, on ext4, XFS and btrfs',
  minutes: 150,
  run: async (bench) => {
    const kinds = mountableHere(FILE_SYSTEMS);
    bench.check('this kernel can look at the disks of the machine, as root', kinds.length > 0);
    if (kinds.length < FILE_SYSTEMS.length) bench.say(`tried here: ${kinds.join(' ') || 'none'}`);
    const disks: AgentDisk[] = [];
    for (const kind of kinds) disks.push(await madeDisk(bench, kind));
    const ready = await agentsAtRest(bench, disks);
    const random = seededRandom(bench.settings.seed);
    const rounds = bench.settings.cuts ?? USUAL_ROUNDS;
    for (const kind of KINDS) {
      const work = await agentsAtWork(bench, ready, kind);
      // What one cut has left is looked at while the machine runs to the next.
      let judging: Promise<unknown> = Promise.resolve();
      for (let round = 0; round < rounds; round += 1) {
        const left = await cut(bench, work, random, round);
        await judging;
        judging = judgeAll(bench, ready, work, left);
        // Whoever waits for it is told.
        judging.catch(() => undefined);
      }
      await judging;
    }
    for (const kind of KINDS)
      bench.check(`${kind}: some cuts counted`, Number(bench.figures[`cuts that counted, ${kind}`] ?? 0) > 0);
  },
};

/** Made by this machine's kernel once for each build of the program, and kept. */
async function madeDisk(bench: Bench, kind: FileSystem): Promise<AgentDisk> {
  const port = 7400 + FILE_SYSTEMS.indexOf(kind);
  const hash = createHash('sha256').update(readFileSync(bench.packages.current));
  for (const file of ['disks/make-disk.ts', 'trees.ts'])
    hash.update(readFileSync(path.join(import.meta.dirname, '..', file)));
  const directory = path.join(systemCache(), `agent-${kind}-${hash.digest('hex').slice(0, 12)}`);
  const [raw, facts] = [path.join(directory, 'disk.raw'), path.join(directory, 'made.json')];
  if (!existsSync(facts)) {
    bench.say(`making a disk with ${kind}`);
    throwAway(`agent-${kind}-`);
    const growing = `${directory}.growing`;
    mkdirSync(growing);
    const image = path.join(growing, 'disk.raw');
    await runCommand('truncate', ['--size', '1G', image]);
    const made = await inOwnMounts<MadeDisk>(
      'make-disk.ts',
      { kind, image, port, mebibytes: MEBIBYTES },
      600_000,
    );
    writeFileSync(path.join(growing, 'made.json'), JSON.stringify(made));
    renameSync(growing, directory);
  }
  return { kind, raw, port, made: JSON.parse(readFileSync(facts, 'utf8')) as MadeDisk };
}

/** A machine with an agent for each disk, all of them waiting: frozen once for each build of the program, and kept. */
async function agentsAtRest(bench: Bench, disks: readonly AgentDisk[]): Promise<Ready> {
  const { root } = await bench.installed();
  const made = createHash('sha256').update([root, ...disks.map(({ raw }) => raw)].join('\n'));
  const directory = path.join(systemCache(), `agents-${made.digest('hex').slice(0, 12)}`);
  if (!existsSync(directory)) {
    throwAway('agents-');
    const growing = `${directory}.growing`;
    mkdirSync(growing);
    await freezeAtRest(bench, disks, growing);
    renameSync(growing, directory);
  }
  const at = (name: string): string => path.join(directory, name);
  const layers = new Map(disks.map(({ kind }) => [kind, at(`${kind}.qcow2`)]));
  return { disks, layers, root: at('root.qcow2'), memory: at('memory') };
}

async function freezeAtRest(bench: Bench, disks: readonly AgentDisk[], place: string): Promise<void> {
  const layers = new Map<FileSystem, string>();
  for (const { kind, raw } of disks)
    layers.set(kind, await layerAbove(raw, path.join(place, `${kind}.qcow2`), 'raw'));
  const machine = await bench.boot({ memoryMiB: MEMORY_MIB, disks: attached([...layers.keys()], layers) });
  const { guest } = machine;
  await guest.run('systemctl disable --now holdfast.service', { withinMs: 200_000 });
  // Backups that were made here a moment ago are not from a time to come.
  await guest.run(`date -s '@${Math.floor(Date.now() / 1_000)}'`);
  for (const { kind, port, made } of disks) {
    await guest.run(
      `mkdir -p /mnt/${kind} && mount ${deviceOf(kind)} /mnt/${kind} && chown -R holdfast:holdfast /mnt/${kind}/state /mnt/${kind}/store /mnt/${kind}/fresh`,
      { withinMs: 200_000 },
    );
    await guest.write(`/root/credential-${port}.json`, JSON.stringify(made.credential), '0600');
    await guest.run(
      `sed -e 's#^ExecStart=.*#ExecStart=/usr/lib/holdfast/bin/node /usr/lib/holdfast/service/bin/holdfast.js start#' -e 's#^Environment=HOLDFAST_STATE_DIR=.*#Environment=HOLDFAST_STATE_DIR=/mnt/${kind}/state#' -e 's#%C/holdfast#%C/holdfast-${kind}#' -e 's#^CacheDirectory=.*#CacheDirectory=holdfast-${kind}#' -e '/^StateDirectory/d' -e 's#^ReadWritePaths=.*#ReadWritePaths=/mnt/${kind}#' /lib/systemd/system/holdfast.service >/etc/systemd/system/holdfast-${kind}.service`,
    );
  }
  await guest.run('systemctl daemon-reload');
  for (const { kind } of disks)
    await guest.run(`systemctl start holdfast-${kind}.service`, { withinMs: 400_000 });
  for (const disk of disks) {
    const agent = new GuestAgent(guest, { ...agentPlace(disk) });
    await agent.ready();
    await guest.write(`/root/token-${disk.port}`, await agent.token(), '0600');
  }
  await guest.run('sync; echo 3 >/proc/sys/vm/drop_caches');
  await machine.freeze(path.join(place, 'memory'));
  await runCommand('mv', [path.join(machine.directory, 'root.qcow2'), path.join(place, 'root.qcow2')]);
}

/** What was kept of other builds, or broken off. */
function throwAway(start: string): void {
  for (const name of readdirSync(systemCache()))
    if (name.startsWith(start)) rmSync(path.join(systemCache(), name), { recursive: true, force: true });
}

function agentPlace({ kind, port }: AgentDisk) {
  return {
    unit: `holdfast-${kind}.service`,
    user: 'holdfast',
    state: `/mnt/${kind}/state`,
    port,
    environment: '',
  };
}

function attached(kinds: readonly FileSystem[], layers: ReadonlyMap<FileSystem, string>): readonly Disk[] {
  return kinds.map((kind) => ({ name: kind, file: layers.get(kind) ?? '', slot: slotOf(kind) }));
}

function slotOf(kind: FileSystem): number {
  return 16 + FILE_SYSTEMS.indexOf(kind);
}

/** All agents at their job, frozen at a moment when their repositories change: each cut of its kind begins there. */
interface AtWork {
  readonly kind: Kind;
  readonly root: string;
  readonly memory: string;
  readonly layers: ReadonlyMap<FileSystem, string>;
  readonly jobs: ReadonlyMap<string, string>;
}

async function agentsAtWork(bench: Bench, ready: Ready, kind: Kind): Promise<AtWork> {
  const place = bench.place(`at-work-${kind}`);
  const { layers, root, machine } = await resumed(bench, ready, place, {});
  await machine.guest.write('/root/work.sh', workScript(ready.disks, kind), '0755');
  // It goes on while the machine is frozen, and in each that begins there.
  void machine.guest.try('sh /root/work.sh', { withinMs: 900_000 }).catch(() => undefined);
  const notes = await noted(machine, AT_WORK_WITHIN_MS, (text) => text.includes('AT WORK'));
  const memory = path.join(place, 'memory');
  await machine.freeze(memory);
  return { kind, root, memory, layers, jobs: jobsIn(notes) };
}

async function resumed(
  bench: Bench,
  from: { readonly root: string; readonly memory: string; readonly layers: ReadonlyMap<FileSystem, string> },
  place: string,
  more: { readonly unattended?: boolean },
): Promise<{ layers: ReadonlyMap<FileSystem, string>; root: string; machine: Machine }> {
  const at = (name: string): string => path.join(place, name);
  const layers = new Map<FileSystem, string>();
  for (const [name, file] of from.layers) layers.set(name, await layerAbove(file, at(`${name}.qcow2`)));
  const root = await layerAbove(from.root, at('root.qcow2'));
  const disks = attached([...layers.keys()], layers);
  const start = {
    image: bench.booted.image,
    root,
    memory: from.memory,
    memoryMiB: MEMORY_MIB,
    disks,
    ...more,
  };
  return { layers, root, machine: bench.keep(await Machine.start(at('run'), start)) };
}

/** What the machine has noted once that is enough; not a moment is lost. */
async function noted(
  machine: Machine,
  withinMs: number,
  isEnough: (text: string) => boolean,
): Promise<string> {
  const untilMs = performance.now() + withinMs;
  for (;;) {
    const text = existsSync(machine.notes) ? readFileSync(machine.notes, 'utf8') : '';
    if (isEnough(text)) return text;
    if (performance.now() > untilMs) throw new Error(`the machine did not come so far: ${text.slice(-500)}`);
    await sleep(5);
  }
}

/**
 * Asks all agents for the job, says when repositories have begun to change, and then how far they are, again and again, on
 * a way that no cut takes back.
 */
function workScript(disks: readonly AgentDisk[], kind: Kind): string {
  const repository = kind === 'first' ? 'fresh' : 'store';
  const asks = disks.map(({ kind: name, port, made }) => {
    const tags = Object.keys(made.digests).slice(-1);
    const body =
      kind === 'prune'
        ? '{}'
        : JSON.stringify({ source: `/mnt/${name}/source`, destination: repository, options: { tags } });
    const route = kind === 'prune' ? 'prune' : 'backup';
    return `id=$(curl -sS -m 100 -X POST -H "Authorization: Bearer $(cat /root/token-${port})" -H 'Content-Type: application/json' --data-binary '${body}' http://127.0.0.1:${port}/v1/${route} | sed -E 's/.*"id":"([^"]+)".*/\\1/')
echo "job ${name} $id" >&3`;
  });
  const names = disks.map(({ kind: name }) => name).join(' ');
  return `exec 3>/dev/virtio-ports/notes
size() { du -sk /mnt/$1/${repository}/packs 2>/dev/null | cut -f1; }
for name in ${names}; do eval "before_$name=$(size $name)"; done
# One after the other, as each starts a process; the first may be far before the last is asked.
( ${asks.join('\nsleep 10\n')} ) &
said=
while :; do
  changed=0
  for name in ${names}; do
    now=$(size $name); eval "was=\\$before_$name"
    diff=$(( \${now:-0} - \${was:-0} ))
    [ "$diff" = 0 ] || changed=$(( changed + 1 ))
    [ -z "$said" ] || echo "$name $diff" >&3
  done
  if [ -z "$said" ] && [ $changed -ge ${kind === 'prune' ? 1 : disks.length} ]; then said=1; echo 'AT WORK' >&3; fi
# Looking takes time from those at work.
  if [ -z "$said" ]; then sleep 0.4; else sleep ${kind === 'prune' ? '0.05' : '0.2'}; fi
done
`;
}

/** The disks after a cut. */
interface Left {
  readonly place: string;
  readonly layers: ReadonlyMap<FileSystem, string>;
  readonly changed: ReadonlyMap<string, number>;
  readonly jobs: ReadonlyMap<string, string>;
}

async function cut(bench: Bench, work: AtWork, random: SeededRandom, round: number): Promise<Left> {
  const place = bench.place(`cut-${work.kind}-${round}`);
  const { layers, machine } = await resumed(bench, work, place, { unattended: true });
  const kibibytes = random.below(MEBIBYTES * 1_024 * (work.kind === 'prune' ? 2 : 1));
  const beganMs = performance.now();
  const notes = await noted(machine, 120_000, (text) => {
    const all = changesIn(text);
    const isLong = performance.now() - beganMs > 45_000;
    // One that changes no more is over, or soon will be.
    return all.size > 0 && (isLong || [...all.values()].some((change) => Math.abs(change) >= kibibytes));
  });
  await machine.cutPower();
  return { place, layers, changed: changesIn(notes), jobs: new Map([...work.jobs, ...jobsIn(notes)]) };
}

async function judgeAll(bench: Bench, { disks }: Ready, work: AtWork, left: Left): Promise<void> {
  const { place } = left;
  await Promise.all(disks.map(async (disk) => await judge(bench, disk, work.kind, left)));
  rmSync(place, { recursive: true, force: true });
}

/** What each agent was asked for; those that come last may not have been asked yet. */
function jobsIn(notes: string): ReadonlyMap<string, string> {
  return new Map([...notes.matchAll(/^job (\w+) (\w+)$/gm)].map(([, name = '', id = '']) => [name, id]));
}

/** By how many KiB each repository was larger or smaller than before, as it was noted last. */
function changesIn(notes: string): ReadonlyMap<string, number> {
  return new Map(
    [...notes.matchAll(/^(\w+) (-?\d+)$/gm)].map(([, name = '', change]) => [name, Number(change)]),
  );
}

async function judge(bench: Bench, disk: AgentDisk, kind: Kind, left: Left): Promise<void> {
  const id = left.jobs.get(disk.kind);
  const changed = left.changed.get(disk.kind) ?? 0;
  const layer = left.layers.get(disk.kind) ?? '';
  const image = `${layer}.raw`;
  await runCommand('qemu-img', ['convert', '-O', 'raw', layer, image]);
  const [newest = ''] = Object.keys(disk.made.digests).slice(-1);
  const [older = ''] = Object.keys(disk.made.digests).slice(-2);
  const asked: Judged = {
    kind: disk.kind,
    image,
    credential: disk.made.credential,
    digests: disk.made.digests,
    job: id === undefined ? null : { id, route: kind === 'prune' ? '/prune' : '/backup' },
    wanted: { store: kind === 'later' ? [older, newest] : [older], fresh: kind === 'first' ? [newest] : [] },
  };
  const verdict = await inOwnMounts<Verdict>('judge-disk.ts', asked, 900_000);
  const counts = changed !== 0 && verdict.attempts > 1;
  count(bench, `cuts that counted, ${kind}`, counts ? 1 : 0);
  count(bench, `cuts that counted, ${disk.kind}`, counts ? 1 : 0);
  count(bench, 'cuts that counted', counts ? 1 : 0);
  count(bench, 'cuts that came too early or too late', counts ? 0 : 1);
  count(bench, 'snapshots restored and compared', verdict.snapshotsRestored);
  count(bench, 'databases examined', verdict.databases);
  const longest = 'longest until a job that was hit was completed (s)';
  bench.figures[longest] = Math.max(
    Number(bench.figures[longest] ?? 0),
    Math.round(verdict.goneOnMs / 100) / 10,
  );
  const what = `${kind} on ${disk.kind}, changed by ${changed} KiB, ${counts ? 'counted' : 'not counted'} (attempt ${verdict.attempts})`;
  bench.check(what, verdict.violations.length === 0, verdict.violations.join('\n'));
}

function count(bench: Bench, name: string, more: number): void {
  bench.figures[name] = Number(bench.figures[name] ?? 0) + more;
}
