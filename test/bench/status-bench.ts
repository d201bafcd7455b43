/**
 * How fast `GET /status` answers while a backup runs: `node status-bench.ts DIR SOURCE [--connections N] [--rate N] [--no-backup]`.
 * It starts the built program on a state directory in DIR, and backs SOURCE up to a new destination twice: once while
 * each of 200 kept-alive connections asks once a second, and once while each asks again as soon as it is answered. Each
 * connection comes from a loopback address of its own, because the limit of requests without a token is by address:
 * so what is measured are full answers. Both loads are measured without a backup too.
 */

import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { loadavg } from 'node:os';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { parseArgs } from 'node:util';

const PROGRAM = path.resolve(import.meta.dirname, '../../service/bin/holdfast.js');
const QUIET_SECONDS = 10;
/** Milliseconds that a start and an end may take. */
const PATIENCE = 60_000;
/** Of requests without a token. */
const LIMIT_WINDOW_MS = 60_000;

const print = (text: string): void => void process.stdout.write(`${text}\n`);

interface Answer {
  readonly status: number;
  /** From the moment at which it was due to be asked. Milliseconds. */
  readonly tookMs: number;
}

/** One connection that asks, and waits for the answer before it asks again. */
class Asker {
  readonly #socket: Socket;
  readonly #request: string;
  #received = '';
  #answered: ((status: number) => void) | undefined;
  #lost: (error: Error) => void = () => undefined;

  private constructor(socket: Socket, host: string) {
    this.#socket = socket;
    this.#request = `GET /v1/status HTTP/1.1\r\nHost: ${host}\r\n\r\n`;
    socket.setNoDelay(true).setEncoding('latin1');
    socket.on('data', (text: string) => this.#take(text));
    socket.on('close', () => this.#lost(new Error('the agent closed a connection')));
    socket.on('error', () => undefined);
  }

  static async open(host: string, from: string): Promise<Asker> {
    const socket = connect({ host: '127.0.0.1', port: Number(host.split(':')[1]), localAddress: from });
    await once(socket, 'connect');
    return new Asker(socket, host);
  }

  async ask(dueMs: number): Promise<Answer> {
    const { promise, resolve, reject } = Promise.withResolvers<number>();
    this.#answered = resolve;
    this.#lost = reject;
    this.#socket.write(this.#request);
    const status = await promise;
    return { status, tookMs: performance.now() - dueMs };
  }

  close(): void {
    this.#lost = () => undefined;
    this.#socket.destroy();
  }

  #take(text: string): void {
    this.#received += text;
    const end = this.#received.indexOf('\r\n\r\n');
    if (end < 0) return;
    const length = /content-length: (\d+)/i.exec(this.#received)?.[1];
    if (this.#received.length < end + 4 + Number(length)) return;
    const status = Number(this.#received.slice(9, 12));
    this.#received = '';
    this.#answered?.(status);
  }
}

/** Asks on all connections until `over`; with a rate, that many times a second each, evenly spread. */
async function load(
  host: string,
  { connections, rate }: { readonly connections: number; readonly rate: number | null },
  over: () => boolean,
): Promise<readonly Answer[]> {
  const askers = await Promise.all(
    Array.from({ length: connections }, async (_, index) => await Asker.open(host, `127.0.1.${index + 1}`)),
  );
  // The agent takes connections one at a time: that is not what is measured.
  for (const asker of askers) await asker.ask(0);
  const answers: Answer[] = [];
  const startMs = performance.now();
  const run = async (asker: Asker, index: number): Promise<void> => {
    const everyMs = rate === null ? 0 : 1_000 / rate;
    let dueMs = startMs + (everyMs * index) / connections;
    while (!over()) {
      const aheadMs = dueMs - performance.now();
      if (rate !== null && aheadMs > 0) await delay(aheadMs);
      // A timer is late by up to a millisecond of its own.
      answers.push(await asker.ask(rate === null || aheadMs > 0 ? performance.now() : dueMs));
      dueMs += everyMs;
    }
  };
  await Promise.all(askers.map(run));
  for (const asker of askers) asker.close();
  return answers;
}

function percentile(sorted: readonly number[], share: number): string {
  const value = sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))];
  return (value ?? Number.NaN).toFixed(1).padStart(6);
}

/** Milliseconds of processor time that a process has taken; without those that it started. */
function processorMs(pid: number): number {
  const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
  const [user = '', system = ''] = stat
    .slice(stat.lastIndexOf(')') + 2)
    .split(' ')
    .slice(11, 13);
  return (Number(user) + Number(system)) * TICK_MS;
}

/** As Linux has counted for decades, whatever its timer does. */
const TICK_MS = 10;

function report(name: string, answers: readonly Answer[], seconds: number, usedMs: number): void {
  print(`${name}: ${answers.length} answers in ${seconds.toFixed(1)} s, load ${loadavg()[0]?.toFixed(1)}`);
  print(`  ${((usedMs * 1_000) / answers.length).toFixed(0)} µs of the agent's processor time each`);
  for (const status of [...new Set(answers.map((answer) => answer.status))].sort((a, b) => a - b)) {
    const times = answers.filter((answer) => answer.status === status).map(({ tookMs }) => tookMs);
    times.sort((a, b) => a - b);
    const [p50, p90, p99, most] = [0.5, 0.9, 0.99, 1].map((share) => percentile(times, share));
    print(
      `  ${status}: ${String(times.length).padStart(6)}  p50 ${p50} ms  p90 ${p90} ms  p99 ${p99} ms  max ${most} ms`,
    );
  }
}

interface Running extends AsyncDisposable {
  readonly host: string;
  readonly pid: number;
  /** Asks with a token. */
  call(method: string, target: string, body?: object): Promise<Readonly<Record<string, unknown>>>;
}

async function startAgent(state: string): Promise<Running> {
  const environment = { ...process.env, HOLDFAST_STATE_DIR: state };
  const agent = spawn(process.execPath, [PROGRAM, 'start', '--port', '0'], {
    env: environment,
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  const address = path.join(state, 'run', 'holdfast.json');
  const endMs = performance.now() + PATIENCE;
  while (!existsSync(address)) {
    if (agent.exitCode !== null || performance.now() > endMs) throw new Error('the agent did not start');
    await delay(50);
  }
  const { addresses }: { addresses: string[] } = JSON.parse(readFileSync(address, 'utf8'));
  const host = (addresses[0] ?? '').replace('http://', '');
  const made = spawnSync(process.execPath, [PROGRAM, 'credentials', 'create', '--name', 'bench', '--json'], {
    env: environment,
    encoding: 'utf8',
    timeout: PATIENCE,
  });
  const { api_key, secret } = JSON.parse(made.stdout);
  let token: string | undefined;
  const call: Running['call'] = async (method, target, body) => {
    const reply = await fetch(`http://${host}/v1${target}`, {
      method,
      headers: {
        ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const { data, error } = (await reply.json()) as Readonly<
      Record<string, Record<string, unknown> | undefined>
    >;
    if (data === undefined) throw new Error(`${method} ${target}: ${JSON.stringify(error)}`);
    return data;
  };
  token = String((await call('POST', '/auth/token', { api_key, secret }))['access_token']);
  return {
    host,
    pid: agent.pid ?? 0,
    call,
    async [Symbol.asyncDispose]() {
      if (agent.exitCode !== null) return;
      agent.kill('SIGTERM');
      await once(agent, 'exit');
    },
  };
}

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    connections: { type: 'string', default: '200' },
    rate: { type: 'string', default: '1' },
    'no-backup': { type: 'boolean' },
  },
});
const [directory, source] = positionals.map((name) => path.resolve(name));
if (directory === undefined || source === undefined) throw new Error('DIR and SOURCE are needed');
const connections = Number(values.connections);

mkdirSync(directory, { recursive: true });
const place = mkdtempSync(path.join(directory, 'status-'));
const state = path.join(place, 'state');
mkdirSync(state, { mode: 0o700 });
writeFileSync(path.join(state, 'config.json'), JSON.stringify({ plan: 'business' }), { mode: 0o600 });
try {
  await using agent = await startAgent(state);
  for (const rate of [Number(values.rate), null]) {
    const name = rate === null ? 'flat out' : `${rate} request a second each`;
    const quietEnd = performance.now() + QUIET_SECONDS * 1_000;
    let usedMs = processorMs(agent.pid);
    const quiet = await load(agent.host, { connections, rate }, () => performance.now() > quietEnd);
    report(
      `without a backup, ${connections} connections, ${name}`,
      quiet,
      QUIET_SECONDS,
      processorMs(agent.pid) - usedMs,
    );
    if (values['no-backup'] === true) continue;
    // What was asked flat out has used up the limits of all addresses.
    if (rate === null) await delay(LIMIT_WINDOW_MS);

    const job = await agent.call('POST', '/backup', { source, destination: path.join(place, `to-${rate}`) });
    const startedMs = performance.now();
    usedMs = processorMs(agent.pid);
    let shown = job;
    const over = (): boolean => !['queued', 'running'].includes(String(shown['status']));
    const watching = (async () => {
      for (; !over(); await delay(500)) shown = await agent.call('GET', `/backup/${String(job['id'])}`);
    })();
    const busy = await load(agent.host, { connections, rate }, over);
    await watching;
    if (shown['status'] !== 'completed') throw new Error(JSON.stringify(shown['error']));
    const seconds = (performance.now() - startedMs) / 1_000;
    report(
      `while ${String(shown['files_backed_up'])} files are saved, ${name}`,
      busy,
      seconds,
      processorMs(agent.pid) - usedMs,
    );
  }
} finally {
  rmSync(place, { recursive: true, force: true });
}
