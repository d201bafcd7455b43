/** What runs in a machine whose power will go, and what it notes on a way that no cut takes back. */
import { FIRST, LATER, REPOSITORIES, type DiskName, type RepositoryName } from '../disks/mounted-disk.ts';
import { seededRandom } from '../../support/seeded-random.ts';

export type JobIds = Readonly<Record<RepositoryName, string>>;

/** The kinds of work that a cut hits. */
export const KINDS = {
  fresh: 'first backup',
  grown: 'later backup',
  store: 'prune that is deleting',
  partner: 'Partner service',
} as const satisfies Partial<Record<DiskName, string>>;

/** Until the last job is asked for, one report of each device in so many milliseconds; afterwards faster. */
const [SLOW_MS, FAST_MS] = [8_000, 300];
/** What is looked at again and again takes time from those at work. */
const [LOOK_MS, LOOK_FAST_MS] = [500, 100];

export interface Work {
  readonly port: number;
  readonly token: string;
  readonly partnerPort: number;
  /** The keys of those that report. */
  readonly devices: readonly string[];
  readonly seed: number;
}

/**
 * Begins the jobs one after the other and lets each backup stand still once its repository has grown, so that all are at
 * work at the same time, however long the next one takes to start. Then it says by how many KiB each repository differs, over
 * and over. Each device reports meanwhile, and the number of each report that was answered is noted. One process for all of
 * it: emulated, one that starts takes as long as much of a backup.
 */
export function workScript({ seed, ...work }: Work): string {
  const random = seededRandom(seed);
  // Early in a backup, or when two thirds are stored.
  const least = { fresh: 200 + random.below(8_000), grown: 200 + random.below(8_000) };
  const bodyOf = (destination: RepositoryName, { source, tag }: typeof FIRST | typeof LATER): object => ({
    source,
    destination,
    options: { tags: [tag] },
  });
  const given = { ...work, least, first: bodyOf('fresh', FIRST), later: bodyOf('grown', LATER) };
  return `import { execFileSync } from 'node:child_process';
import { openSync, readFileSync, readdirSync, statSync, writeSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
const given = ${JSON.stringify(given)};
const notes = openSync('/dev/virtio-ports/notes', 'w');
const note = (text) => writeSync(notes, text + '\\n');
let isFast = false;
const post = async (url, key, body) => await fetch(url, { method: 'POST', headers: { authorization: 'Bearer ' + key, 'content-type': 'application/json' }, body: JSON.stringify(body) });

const device = async (number, key) => {
  for (let seq = 1; ; seq += 1) {
    await sleep(isFast ? ${FAST_MS} : ${SLOW_MS});
    const at = new Date().toISOString();
    const result = { kind: 'backup', status: 'completed', finished_at: at, duration_seconds: 12, files_backed_up: 1000, size_bytes: 5000000, uploaded_bytes: 1000000, error_code: null };
    const body = { seq, agent_version: '1.0.0', expected_every_seconds: 86400, storage: { bytes: 1000000 * seq, at }, results: [result] };
    const reply = await post('http://127.0.0.1:' + given.partnerPort + '/api/partner/v1/devices/self/reports', key, body);
    const text = await reply.text();
    note(reply.status === 200 ? 'report ' + number + ' ' + seq : 'REFUSED ' + number + ' ' + seq + ' ' + reply.status + ' ' + text.slice(0, 300));
    if (reply.status === 429) seq -= 1;
    else if (reply.status !== 200) return;
  }
};

const sizeOf = (directory) => {
  let sum = 0;
  let entries = [];
  try { entries = readdirSync(directory, { withFileTypes: true }); } catch {}
  for (const entry of entries) {
    const name = directory + '/' + entry.name;
    if (entry.isDirectory()) sum += sizeOf(name);
    else try { sum += statSync(name).size; } catch {}
  }
  return sum;
};
const names = ${JSON.stringify(REPOSITORIES)};
const size = (name) => Math.round(sizeOf('/mnt/' + name + '/repository/packs') / 1024);
const before = Object.fromEntries(names.map((name) => [name, size(name)]));
const changed = (name) => size(name) - before[name];
const main = execFileSync('systemctl', ['show', '-p', 'MainPID', '--value', 'holdfast-cut'], { encoding: 'utf8' }).trim();
const stopped = new Set();
const engines = () => readFileSync('/proc/' + main + '/task/' + main + '/children', 'latin1').trim().split(' ').map(Number).filter((pid) => pid > 0 && readFileSync('/proc/' + pid + '/cmdline', 'latin1').includes('engine-main'));
const ask = async (name, route, body) => {
  const reply = await post('http://127.0.0.1:' + given.port + '/v1/' + route, given.token, body);
  const { data } = await reply.json();
  note('job ' + name + ' ' + data.id);
};
const atWork = async (name, body) => {
  await ask(name, 'backup', body);
  while (changed(name) < given.least[name]) await sleep(${LOOK_MS});
  for (const pid of engines()) if (!stopped.has(pid)) { process.kill(pid, 'SIGSTOP'); stopped.add(pid); }
};

void Promise.all(given.devices.map((key, number) => device(number, key))).catch((error) => note('BROKEN ' + error));
await atWork('fresh', given.first);
await atWork('grown', given.later);
isFast = true;
await ask('store', 'prune', {});
while (changed('store') >= 0) await sleep(${LOOK_FAST_MS});
for (const pid of stopped) process.kill(pid, 'SIGCONT');
note('AT WORK');
for (;;) {
  for (const name of names) note(name + ' ' + changed(name));
  await sleep(${LOOK_FAST_MS});
}
`;
}

/** By how many KiB each repository was larger or smaller than before, as it was noted last. */
export function changesIn(notes: string): Readonly<Partial<Record<RepositoryName, number>>> {
  const found = [...notes.matchAll(/^(\w+) (-?\d+)$/gm)];
  return Object.fromEntries(found.map(([, name = '', change]) => [name, Number(change)]));
}

/** The last report of each device that was answered, and how many were; a line that the cut has broken off says nothing. */
export function answeredIn(notes: string): { readonly last: readonly number[]; readonly count: number } {
  const last: number[] = [];
  const found = [...notes.matchAll(/^report (\d+) (\d+)\n/gm)];
  for (const [, device, seq] of found) last[Number(device)] = Number(seq);
  return { last, count: found.length };
}
