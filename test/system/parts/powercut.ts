/**
 * The power goes in the midst of first backups, of later ones and of prunes that are deleting, on three file systems at
 * once: an agent with its repositories on each. A cut counts for a file system when its repository had grown, or shrunk, and
 * its job was not over. What is left is judged by disks/judge-disk.ts.
 */
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
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

const KINDS = ['first', 'later', 'prune'] as const;
type Kind = (typeof KINDS)[number];

/** Of each kind: three file systems at once, and not each cut hits all of them. */
const USUAL_ROUNDS = 9;
const MEMORY_MIB = 2_048;
const MEBIBYTES = 12;

interface AgentDisk {
  readonly kind: FileSystem;
  readonly raw: string;
  readonly made: MadeDisk;
  readonly port: number;
  readonly slot: number;
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
    for (let round = 0; round < rounds; round += 1)
      for (const kind of KINDS) await strike(bench, ready, kind, random, round);
    for (const kind of KINDS)
      bench.check(`${kind}: some cuts counted`, Number(bench.figures[`cuts that counted, ${kind}`] ?? 0) > 0);
  },
};

/** Made by this machine's kernel once for each build of the program, and kept. */
async function madeDisk(bench: Bench, kind: FileSystem): Promise<AgentDisk> {
  const [port, slot] = [7400 + FILE_SYSTEMS.indexOf(kind), 16 + FILE_SYSTEMS.indexOf(kind)];
  const hash = createHash('sha256').update(readFileSync(bench.packages.current));
  for (const file of ['disks/make-disk.ts', 'trees.ts'])
    hash.update(readFileSync(path.join(import.meta.dirname, '..', file)));
  const directory = path.join(systemCache(), `agent-${kind}-${hash.digest('hex').slice(0, 12)}`);
  const [raw, facts] = [path.join(directory, 'disk.raw'), path.join(directory, 'made.json')];
  if (!existsSync(facts)) {
    bench.say(`making a disk with ${kind}`);
    for (const other of readdirSync(systemCache()))
      if (other.startsWith(`agent-${kind}-`))
        rmSync(path.join(systemCache(), other), { recursive: true, force: true });
    const growing = `${directory}.growing`;
    rmSync(growing, { recursive: true, force: true });
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
  return { kind, raw, port, slot, made: JSON.parse(readFileSync(facts, 'utf8')) as MadeDisk };
}

/** A machine with an agent for each disk, all of them waiting, frozen: each cut begins there. */
async function agentsAtRest(bench: Bench, disks: readonly AgentDisk[]): Promise<Ready> {
  const place = bench.place('ready');
  const layers = new Map<FileSystem, string>();
  for (const { kind, raw } of disks)
    layers.set(kind, await layerAbove(raw, path.join(place, `${kind}.qcow2`), 'raw'));
  const machine = await bench.boot({ memoryMiB: MEMORY_MIB, disks: attached(disks, layers) });
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
  const memory = path.join(place, 'memory');
  await machine.freeze(memory);
  return { disks, layers, root: path.join(machine.directory, 'root.qcow2'), memory };
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

function attached(disks: readonly AgentDisk[], layers: ReadonlyMap<FileSystem, string>): readonly Disk[] {
  return disks.map(({ kind, slot }) => ({ name: kind, file: layers.get(kind) ?? '', slot }));
}

async function strike(
  bench: Bench,
  ready: Ready,
  kind: Kind,
  random: SeededRandom,
  round: number,
): Promise<void> {
  const directory = bench.place(`cut-${kind}-${round}`);
  const at = (name: string): string => path.join(directory, name);
  const layers = new Map<FileSystem, string>();
  for (const [name, file] of ready.layers) layers.set(name, await layerAbove(file, at(`${name}.qcow2`)));
  const root = await layerAbove(ready.root, at('root.qcow2'));
  const { image } = bench.booted;
  const start = {
    image,
    root,
    memory: ready.memory,
    memoryMiB: MEMORY_MIB,
    disks: attached(ready.disks, layers),
  };
  const machine = bench.keep(await Machine.start(at('run'), start));
  await machine.guest.write('/root/strike.sh', strikeScript(ready.disks, kind, random), '0755');
  const cut = noteOf(machine, 240_000);
  // Nobody waits for it: the power is cut while it runs.
  void machine.guest.try('sh /root/strike.sh', { withinMs: 300_000 }).catch(() => undefined);
  const note = await cut;
  await machine.cutPower();
  const told = new Map(
    note.split('\n').map((line) => [line.split(' ')[0] ?? '', line.split(' ').slice(1)] as const),
  );
  for (const disk of ready.disks) await judge(bench, disk, kind, layers.get(disk.kind) ?? '', told);
  rmSync(directory, { recursive: true, force: true });
}

/** What the machine has noted once it says that the power may go; not a moment is lost. */
async function noteOf(machine: Machine, withinMs: number): Promise<string> {
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  const look = setInterval(() => {
    const text = existsSync(machine.notes) ? readFileSync(machine.notes, 'utf8') : '';
    if (text.includes('CUT')) resolve(text);
  }, 5);
  const patience = setTimeout(() => reject(new Error('the machine did not come to be cut')), withinMs);
  try {
    return await promise;
  } finally {
    clearInterval(look);
    clearTimeout(patience);
  }
}

/**
 * Asks all agents for the job, waits until repositories have changed by so much, and a little longer, and says so on a way
 * that no cut takes back.
 */
function strikeScript(disks: readonly AgentDisk[], kind: Kind, random: SeededRandom): string {
  const repository = kind === 'first' ? 'fresh' : 'store';
  const kibibytes = kind === 'prune' ? 300 : 300 + random.below(kind === 'first' ? 9_000 : 3_000);
  const delay = (random.next() * (kind === 'prune' ? 0.6 : 3)).toFixed(2);
  const asks = disks.map(({ kind: name, port, made }) => {
    const tags = Object.keys(made.digests).slice(-1);
    const body =
      kind === 'prune'
        ? '{}'
        : JSON.stringify({ source: `/mnt/${name}/source`, destination: repository, options: { tags } });
    const route = kind === 'prune' ? 'prune' : 'backup';
    return `before_${name}=$(size ${name})
id=$(curl -sS -m 100 -X POST -H "Authorization: Bearer $(cat /root/token-${port})" -H 'Content-Type: application/json' --data-binary '${body}' http://127.0.0.1:${port}/v1/${route} | sed -E 's/.*"id":"([^"]+)".*/\\1/')
echo "${name} $id" >&3`;
  });
  const looks = disks.map(
    ({ kind: name }) =>
      `now=$(size ${name}); diff=$(( now - before_${name} )); [ \${diff#-} -ge $least ] && changed=$(( changed + 1 ))`,
  );
  const says = disks.map(
    ({ kind: name }) => `echo "${name}-changed $(( $(size ${name}) - before_${name} ))" >&3`,
  );
  return `exec 3>/dev/virtio-ports/notes
size() { du -sk /mnt/$1/${repository} 2>/dev/null | cut -f1; }
${asks.join('\n')}
least=${kibibytes}
for look in $(seq 1 400); do
  changed=0
  ${looks.join('\n  ')}
  [ $changed -ge ${kind === 'prune' ? 1 : disks.length} ] && break
  # Some are done long before others.
  [ $changed -ge 1 ] && least=$(( least * 9 / 10 ))
  sleep 0.05
done
sleep ${delay}
${says.join('\n')}
echo CUT >&3
sleep 60
`;
}

async function judge(
  bench: Bench,
  disk: AgentDisk,
  kind: Kind,
  layer: string,
  told: ReadonlyMap<string, readonly string[]>,
): Promise<void> {
  const [id = ''] = told.get(disk.kind) ?? [];
  const changed = Number(told.get(`${disk.kind}-changed`)?.[0] ?? 0);
  const image = `${layer}.raw`;
  await runCommand('qemu-img', ['convert', '-O', 'raw', layer, image]);
  const [newest = ''] = Object.keys(disk.made.digests).slice(-1);
  const [older = ''] = Object.keys(disk.made.digests).slice(-2);
  const asked: Judged = {
    kind: disk.kind,
    image,
    credential: disk.made.credential,
    digests: disk.made.digests,
    job: { id, route: kind === 'prune' ? '/prune' : '/backup' },
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
