/**
 * The power goes while Partner services take reports as fast as they can, one on each of three file systems. What was
 * answered before the cut is noted outside of the machine; disks/judge-partner-disk.ts looks for it.
 */
import { createReadStream, existsSync, readFileSync, rmSync } from 'node:fs';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { runCommand } from '../../servers/run-command.ts';
import { seededRandom } from '../../support/seeded-random.ts';
import type { Bench, Part } from '../bench.ts';
import type { JudgedPartner, PartnerVerdict } from '../disks/judge-partner-disk.ts';
import type { MadePartnerDisk } from '../disks/make-partner-disk.ts';
import { inOwnMounts, mountableHere } from '../disks/own-mounts.ts';
import { Machine, deviceOf, layerAbove } from '../machine.ts';
import { FILE_SYSTEMS, type FileSystem } from './mounts.ts';

const USUAL_CUTS = 5;
const DEVICES = 4;
/** Answered before a cut counts. */
const LEAST_REPORTS = 12;

interface ServiceDisk {
  readonly kind: FileSystem;
  readonly raw: string;
  readonly layer: string;
  readonly made: MadePartnerDisk;
  readonly port: number;
  readonly slot: number;
}

export const partner: Part = {
  name: 'partner',
  purpose: 'the power goes while a Partner service takes reports, on ext4, XFS and btrfs',
  minutes: 60,
  run: async (bench) => {
    const kinds = mountableHere(FILE_SYSTEMS);
    bench.check('this kernel can look at the disks of the machine, as root', kinds.length > 0);
    const disks: ServiceDisk[] = [];
    for (const kind of kinds) disks.push(await madeDisk(bench, kind));
    const { root, memory } = await servicesAtWork(bench, disks);
    const random = seededRandom(bench.settings.seed);
    for (let cut = 0; cut < (bench.settings.cuts ?? USUAL_CUTS); cut += 1) {
      const directory = bench.place(`cut-${cut}`);
      const at = (name: string): string => path.join(directory, name);
      const layers = await Promise.all(
        disks.map(async ({ kind, layer }) => await layerAbove(layer, at(`${kind}.qcow2`))),
      );
      const attached = disks.map(({ kind, slot }, number) => ({
        name: kind,
        file: layers[number] ?? '',
        slot,
      }));
      const { image } = bench.booted;
      const start = { image, root: await layerAbove(root, at('root.qcow2')), memory, disks: attached };
      const machine = bench.keep(await Machine.start(at('run'), start));
      void machine.guest
        .try('/usr/lib/holdfast/bin/node /root/load.mjs >/dev/virtio-ports/notes', { withinMs: 600_000 })
        .catch(() => undefined);
      await untilAnswered(machine, disks.length * LEAST_REPORTS * 2);
      await sleep(random.below(3_000));
      await machine.cutPower();
      const answered = await answeredIn(machine.notes);
      for (const [number, disk] of disks.entries())
        await judge(bench, disk, layers[number] ?? '', answered.get(disk.kind) ?? []);
      rmSync(directory, { recursive: true, force: true });
    }
  },
};

async function madeDisk(bench: Bench, kind: FileSystem): Promise<ServiceDisk> {
  const number = FILE_SYSTEMS.indexOf(kind);
  const [port, slot, place] = [7500 + number, 16 + number, bench.place(`disk-${kind}`)];
  const raw = path.join(place, 'disk.raw');
  await runCommand('truncate', ['--size', '512M', raw]);
  const facts = { kind, image: raw, port, devices: DEVICES };
  const made = await inOwnMounts<MadePartnerDisk>('make-partner-disk.ts', facts, 300_000);
  const layer = await layerAbove(raw, path.join(place, 'disk.qcow2'), 'raw');
  return { kind, raw, layer, made, port, slot };
}

async function servicesAtWork(
  bench: Bench,
  disks: readonly ServiceDisk[],
): Promise<{ root: string; memory: string }> {
  const attached = disks.map(({ kind, layer, slot }) => ({ name: kind, file: layer, slot }));
  const machine = await bench.boot({ disks: attached });
  const { guest } = machine;
  await guest.run('systemctl disable --now holdfast.service', { withinMs: 200_000 });
  await guest.run(`date -s '@${Math.floor(Date.now() / 1_000)}'`);
  for (const { kind, port } of disks) {
    await guest.run(
      `mkdir -p /mnt/${kind} && mount ${deviceOf(kind)} /mnt/${kind} && chown -R holdfast:holdfast /mnt/${kind}/state && systemd-run --unit=partner-${kind} --uid=holdfast --setenv=HOLDFAST_STATE_DIR=/mnt/${kind}/state --setenv=HOME=/tmp holdfast partner --config /mnt/${kind}/state/partner/partner.json`,
    );
    await guest.until(`curl -fsS -m 20 http://127.0.0.1:${port}/readyz`, 300_000);
  }
  await guest.write('/root/load.mjs', loadScript(disks), '0600');
  await guest.run('sync');
  const memory = path.join(bench.place('ready'), 'memory');
  await machine.freeze(memory);
  return { root: path.join(machine.directory, 'root.qcow2'), memory };
}

/** Each device reports again as soon as it was answered, and says so. */
function loadScript(disks: readonly ServiceDisk[]): string {
  const services = disks.map(({ kind, port, made }) => ({ kind, port, devices: made.devices }));
  return `import { writeSync } from 'node:fs';
const device = async (kind, port, number, key) => {
  for (let seq = 1; ; seq += 1) {
    const at = new Date().toISOString();
    const result = { kind: 'backup', status: 'completed', finished_at: at, duration_seconds: 12, files_backed_up: 1000, size_bytes: 5000000, uploaded_bytes: 1000000, error_code: null };
    const body = { seq, agent_version: '1.0.0', expected_every_seconds: 86400, storage: { bytes: 1000000 * seq, at }, results: [result] };
    const reply = await fetch(\`http://127.0.0.1:\${port}/api/partner/v1/devices/self/reports\`, { method: 'POST', headers: { authorization: \`Bearer \${key}\`, 'content-type': 'application/json' }, body: JSON.stringify(body) });
    const text = await reply.text();
    writeSync(1, reply.status === 200 ? \`\${kind} \${number} \${seq}\\n\` : \`REFUSED \${kind} \${number} \${seq} \${reply.status} \${text.slice(0, 300)}\\n\`);
    if (reply.status === 429) { seq -= 1; await new Promise((resolve) => setTimeout(resolve, 1000)); }
    else if (reply.status !== 200) return;
  }
};
await Promise.all(${JSON.stringify(services)}.flatMap(({ kind, port, devices }) => devices.map((key, number) => device(kind, port, number, key))));
`;
}

async function untilAnswered(machine: Machine, reports: number): Promise<void> {
  const untilMs = performance.now() + 300_000;
  while (performance.now() < untilMs) {
    const text = existsSync(machine.notes) ? readFileSync(machine.notes, 'utf8') : '';
    if (text.split('\n').length > reports) return;
    await sleep(50);
  }
  throw new Error(`no reports were answered: ${readFileSync(machine.notes, 'utf8').slice(0, 500)}`);
}

/** The last one of each device, by file system; a line that the cut has broken off says nothing. */
async function answeredIn(notes: string): Promise<ReadonlyMap<string, number[]>> {
  const answered = new Map<string, number[]>();
  for await (const line of createInterface({ input: createReadStream(notes) })) {
    const [, kind = '', device, seq] = /^(\w+) (\d+) (\d+)$/.exec(line) ?? [];
    if (device === undefined) continue;
    const of = answered.get(kind) ?? [];
    of[Number(device)] = Number(seq);
    answered.set(kind, of);
  }
  return answered;
}

async function judge(
  bench: Bench,
  disk: ServiceDisk,
  layer: string,
  answered: readonly number[],
): Promise<void> {
  const image = `${layer}.raw`;
  await runCommand('qemu-img', ['convert', '-O', 'raw', layer, image]);
  const known = Array.from({ length: DEVICES }, (_, number) => answered[number] ?? 0);
  const asked: JudgedPartner = { kind: disk.kind, image, made: disk.made, answered: known };
  const { violations, reports } = await inOwnMounts<PartnerVerdict>('judge-partner-disk.ts', asked, 300_000);
  const sum = known.reduce((all, one) => all + one, 0);
  const counts = sum >= LEAST_REPORTS;
  bench.figures['cuts that counted'] = Number(bench.figures['cuts that counted'] ?? 0) + (counts ? 1 : 0);
  bench.figures['reports that were answered'] =
    Number(bench.figures['reports that were answered'] ?? 0) + sum;
  bench.figures['reports in the stores'] = Number(bench.figures['reports in the stores'] ?? 0) + reports;
  bench.check(
    `${disk.kind}: after ${sum} answers, ${counts ? 'counted' : 'not counted'}`,
    violations.length === 0,
    violations.join('\n'),
  );
}
