/**
 * How the Partner service bears its devices: `node partner-bench.ts DIR [--postgres URL] [--instances N] [--devices N]
 * [--minutes N] [--flat-out SECONDS]`. It starts the built program, on SQLite in DIR or on an empty PostgreSQL database,
 * and reports as so many devices do, each once a minute at a moment of its own, while partners read once a second each.
 * What an answer took counts from the moment at which it was due. At the end the store is asked for every report.
 * With --flat-out, 64 devices then report as fast as they are answered.
 */

import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { Agent, request } from 'node:http';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as delay } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { systemClock } from '../../src/base/clock.ts';
import { openPartnerKeys } from '../../src/partner/secrets/keys.ts';
import { openPartnerStore, type PartnerStores } from '../../src/partner/store/store.ts';

const PROGRAM = path.resolve(import.meta.dirname, '../../service/bin/holdfast.js');
const PREFIX = '/api/partner/v1';
const PARTNERS = 20;
const DEVICES_PER_CUSTOMER = 20;
/** Of all devices, those with a backup to tell of in one report. */
const WITH_RESULT = 0.1;
const CONNECTIONS = 512;
const FLAT_OUT_AT_ONCE = 64;
const BYTES = 1_000_000;

const print = (text: string): void => void process.stdout.write(`${text}\n`);

interface Device {
  readonly key: string;
  seq: number;
}

interface Fleet {
  readonly devices: readonly Device[];
  readonly apiKeys: readonly string[];
  readonly partnerIds: readonly string[];
}

interface Instance {
  readonly child: ChildProcess;
  readonly address: string;
}

interface Answer {
  readonly status: number;
  readonly tookMs: number;
}

const agent = new Agent({ keepAlive: true, maxSockets: CONNECTIONS });

/** Asks once; what it took counts from `dueMs`. */
async function ask(
  url: string,
  key: string,
  dueMs: number,
  body?: object,
): Promise<Answer & { readonly text: string }> {
  const { promise, resolve, reject } = Promise.withResolvers<{ status: number; text: string } | 'closed'>();
  const text = body === undefined ? undefined : JSON.stringify(body);
  const asked = request(
    url,
    {
      agent,
      method: text === undefined ? 'GET' : 'POST',
      headers: {
        authorization: `Bearer ${key}`,
        ...(text === undefined ? {} : { 'content-type': 'application/json' }),
      },
    },
    (reply) => {
      const parts: Buffer[] = [];
      reply.on('data', (part: Buffer) => parts.push(part));
      reply.on('end', () =>
        resolve({ status: reply.statusCode ?? 0, text: Buffer.concat(parts).toString() }),
      );
      reply.on('error', reject);
    },
  );
  asked.on('error', (error: NodeJS.ErrnoException) => {
    // The service closed a connection that had been idle just when it was used again, as agents know too.
    if (asked.reusedSocket && error.code === 'ECONNRESET') resolve('closed');
    else reject(error);
  });
  asked.end(text);
  const answer = await promise;
  if (answer === 'closed') return await ask(url, key, dueMs, body);
  return { status: answer.status, text: answer.text, tookMs: performance.now() - dueMs };
}

function reportOf(device: Device, withResult: boolean): object {
  const at = new Date().toISOString();
  device.seq += 1;
  return {
    seq: device.seq,
    agent_version: '1.0.0',
    expected_every_seconds: 86_400,
    storage: { bytes: BYTES * device.seq, at },
    results: withResult
      ? [
          {
            kind: 'backup',
            status: 'completed',
            finished_at: at,
            duration_seconds: 12,
            files_backed_up: 1_000,
            size_bytes: 5_000_000,
            uploaded_bytes: BYTES,
            error_code: null,
          },
        ]
      : [],
  };
}

async function makeFleet(stores: PartnerStores, count: number): Promise<Fleet> {
  const owner = { name: 'bench', keyId: null, ip: null };
  const plan = await stores.plans.findBySlug('business');
  const devices: Device[] = [];
  const apiKeys: string[] = [];
  const partnerIds: string[] = [];
  for (let number = 0; number < PARTNERS; number += 1) {
    const partner = await stores.partners.create(
      { name: `Partner ${number}`, company: null, email: `p${number}@example.org`, passwordHash: '-' },
      owner,
    );
    partnerIds.push(partner.id);
    apiKeys.push((await stores.apiKeys.generate(partner.id, 'bench', owner)).secret);
  }
  while (devices.length < count) {
    const partnerId = partnerIds[(devices.length / DEVICES_PER_CUSTOMER) % PARTNERS] ?? '';
    const customer = await stores.customers.create(
      partnerId,
      { name: 'Customer', email: null, externalId: null, planId: plan?.id ?? '', metadata: {} },
      owner,
    );
    for (let n = 0; n < DEVICES_PER_CUSTOMER && devices.length < count; n += 1) {
      const token = await stores.enrollment.createToken(partnerId, customer.id, owner);
      const facts = { name: `device ${n}`, platform: 'linux-x64', agentVersion: '1.0.0' };
      const { key } = await stores.enrollment.enroll(token?.token ?? '', facts, null);
      devices.push({ key, seq: 0 });
    }
  }
  return { devices, apiKeys, partnerIds };
}

async function startInstance(directory: string, config: string): Promise<Instance> {
  const child = spawn(process.execPath, [PROGRAM, 'partner', '--config', config, '--port', '0', '--json'], {
    env: { ...process.env, HOLDFAST_STATE_DIR: directory },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const [line]: unknown[] = await once(createInterface({ input: child.stdout }), 'line');
  const { address }: { address: string } = JSON.parse(String(line));
  return { child, address };
}

async function stopInstance({ child }: Instance): Promise<void> {
  child.kill('SIGTERM');
  await once(child, 'exit');
}

function peakMb({ child }: Instance): number {
  const status = readFileSync(`/proc/${child.pid}/status`, 'utf8');
  return Math.round(Number(/VmHWM:\s+(\d+)/.exec(status)?.[1] ?? 0) / 1_024);
}

/** Of the worst hundredth and so on. */
function percentile(sorted: readonly number[], share: number): string {
  return (sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0).toFixed(1);
}

function describe(name: string, answers: readonly Answer[], good: number): void {
  const sorted = answers.map(({ tookMs }) => tookMs).sort((a, b) => a - b);
  const bad = answers.filter(({ status }) => status !== good).length;
  print(
    `${name}: ${answers.length} answers, ${bad} of them not ${good}; p50 ${percentile(sorted, 0.5)} ms, p99 ${percentile(sorted, 0.99)} ms, most ${percentile(sorted, 1)} ms`,
  );
}

/** Sends each when it is due, whether the others were answered or not; resolves when all were. */
async function paced(
  total: number,
  everyMs: number,
  send: (number: number, dueMs: number) => Promise<Answer>,
): Promise<readonly Answer[]> {
  const began = performance.now();
  const pending: Promise<Answer>[] = [];
  for (let number = 0; number < total; number += 1) {
    const dueMs = began + number * everyMs;
    const wait = dueMs - performance.now();
    if (wait > 1) await delay(wait);
    pending.push(send(number, dueMs));
  }
  return await Promise.all(pending);
}

const READS = ['/account', '/customers?limit=100', '/usage', '/events?limit=100'];

interface Load {
  readonly fleet: Fleet;
  readonly instances: readonly Instance[];
  /** How many results were reported. */
  results: number;
}

function urlOf({ instances }: Load, number: number, route: string): string {
  return `${instances[number % instances.length]?.address ?? ''}${PREFIX}${route}`;
}

async function sendReport(load: Load, number: number, dueMs: number): Promise<Answer> {
  const device = load.fleet.devices[number % load.fleet.devices.length];
  if (device === undefined) throw new Error('there is no device');
  const withResult = Math.random() < WITH_RESULT;
  if (withResult) load.results += 1;
  const body = reportOf(device, withResult);
  return await ask(urlOf(load, number, '/devices/self/reports'), device.key, dueMs, body);
}

/** Every device once a minute, every partner once a second. */
async function steadyLoad(load: Load, minutes: number): Promise<void> {
  const { devices, apiKeys } = load.fleet;
  const [reports, reads] = await Promise.all([
    paced(
      devices.length * minutes,
      60_000 / devices.length,
      async (number, dueMs) => await sendReport(load, number, dueMs),
    ),
    paced(minutes * 60 * PARTNERS, 1_000 / PARTNERS, async (number, dueMs) => {
      const route = READS[Math.floor(number / PARTNERS) % READS.length] ?? '';
      return await ask(urlOf(load, number, route), apiKeys[number % PARTNERS] ?? '', dueMs);
    }),
  ]);
  describe('reports', reports, 200);
  describe('reads', reads, 200);
}

/** As many at once as are allowed, each again as soon as it is answered. */
async function flatOut(load: Load, seconds: number): Promise<void> {
  const end = performance.now() + seconds * 1_000;
  const answers: Answer[] = [];
  let next = 0;
  const one = async (): Promise<void> => {
    while (performance.now() < end) {
      next += 1;
      answers.push(await sendReport(load, next, performance.now()));
    }
  };
  await Promise.all(Array.from({ length: FLAT_OUT_AT_ONCE }, one));
  print(`flat out: ${Math.round(answers.length / seconds)} reports a second`);
  describe('reports flat out', answers, 200);
}

/** @throws {Error} when a report or a result is missing */
async function requireAll(stores: PartnerStores, { fleet, results }: Load): Promise<void> {
  for (const { key, seq } of fleet.devices) {
    const known = (await stores.devices.verify(key))?.device.reportSeq ?? 0;
    if (known !== seq) throw new Error(`a device has sent ${seq} reports, and the store knows ${known}`);
  }
  const day = (ago: number): string => new Date(Date.now() - ago * 86_400_000).toISOString().slice(0, 10);
  let counted = 0;
  for (const partnerId of fleet.partnerIds) {
    const usage = await stores.usage.usage(partnerId, { from: day(1), to: day(0), granularity: 'day' });
    counted += usage.totals.backupsCompleted;
  }
  if (counted !== results) throw new Error(`${results} backups were reported, and ${counted} counted`);
  print(`every report is there: ${fleet.devices.length} devices, ${results} backups`);
}

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    postgres: { type: 'string' },
    instances: { type: 'string', default: '1' },
    devices: { type: 'string', default: '10000' },
    minutes: { type: 'string', default: '10' },
    'flat-out': { type: 'string', default: '0' },
  },
});
const [place] = positionals;
if (place === undefined) throw new Error('usage: node partner-bench.ts DIR [--postgres URL] …');
const directory = path.join(path.resolve(place), 'partner-bench');
rmSync(directory, { recursive: true, force: true });
mkdirSync(path.join(directory, 'partner'), { recursive: true, mode: 0o700 });
const [config, addressFile] = [path.join(directory, 'partner.json'), path.join(directory, 'postgres')];
writeFileSync(addressFile, values.postgres ?? '', { mode: 0o600 });
const settings = values.postgres === undefined ? {} : { postgres: { file: addressFile } };
writeFileSync(config, JSON.stringify(settings), { mode: 0o600 });
const keys = await openPartnerKeys(path.join(directory, 'partner', 'partner.key'));
const store = values.postgres ?? `sqlite:${path.join(directory, 'partner', 'partner.sqlite')}`;
const open = async (): Promise<PartnerStores> =>
  await openPartnerStore(store, systemClock, { pepper: keys.pepper, chance: () => 0 });

async function prepared(): Promise<Fleet> {
  await using stores = await open();
  return await makeFleet(stores, Number(values.devices));
}

const fleet = await prepared();
print(`${fleet.devices.length} devices of ${PARTNERS} partners, ${values.instances} instances`);
const instances: Instance[] = [];
for (let number = 0; number < Number(values.instances); number += 1)
  instances.push(await startInstance(directory, config));
const load: Load = { fleet, instances, results: 0 };
try {
  await steadyLoad(load, Number(values.minutes));
  for (const instance of instances) print(`memory of an instance: ${peakMb(instance)} MB at most`);
  if (Number(values['flat-out']) > 0) await flatOut(load, Number(values['flat-out']));
} finally {
  agent.destroy();
  await Promise.all(instances.map(stopInstance));
}
await using stores = await open();
await requireAll(stores, load);
