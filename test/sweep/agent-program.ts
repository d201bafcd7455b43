/** The real agent as a child process with a state directory of its own, asked over the Desktop API, and ways to kill it. */
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { executable } from '../support/executable.ts';
import { isAlive } from '../support/is-alive.ts';
import { PASSPHRASE, environment, jsonLines, succeed, type Place } from './program.ts';

/** As the Desktop API tells of a job. */
export interface ShownJob {
  readonly id: string;
  readonly type: string;
  readonly status: string;
  readonly phase: string | null;
  readonly attempt: number;
  readonly snapshot_id: string | null;
  readonly waiting_for: string | null;
  readonly created_at: string;
  readonly started_at: string | null;
  readonly finished_at: string | null;
  readonly error: { readonly code: string; readonly message: string } | null;
}

/** A place whose agent has been set up, with what signs in to it. */
export interface AgentPlace extends Place {
  readonly credential: { readonly api_key: string; readonly secret: string };
}

export interface AgentReply {
  readonly status: number;
  readonly data: unknown;
  readonly code: string | undefined;
}

export interface RunningAgent {
  readonly pid: number;
  readonly address: string;
  /** @throws when the agent is gone before it has answered */
  ask(method: 'GET' | 'POST', path: string, body?: unknown): Promise<AgentReply>;
  /** Asks for a job, which must be accepted. */
  submit(path: '/backup' | '/restore' | '/check' | '/prune', body: unknown): Promise<ShownJob>;
  job(path: string, id: string): Promise<ShownJob>;
  /** Waits until the job has ended. */
  finished(path: string, id: string): Promise<ShownJob>;
  /** Process ids of its engines. */
  engines(): readonly number[];
  /** Kills it, and its engines with it when told so; gives those that are left alive. */
  kill(victims: 'agent' | 'agent and engines'): Promise<readonly number[]>;
  /** Asks it to end; resolves with its exit code. */
  stop(): Promise<number | null>;
}

/** For anything that takes long on a busy machine. */
const PATIENCE_MS = 60_000;

const AGENT_SETTINGS = {
  version: 1,
  plan: 'business',
  maintenance: { prune: 'off', check: 'off', drill: 'off' },
};

/** Settings of an agent that backs up to the place's repository, which must exist, instead of one of its own. */
export function storeSettings(place: Place): Readonly<Record<string, unknown>> {
  const passphrase = join(place.state, 'store.passphrase');
  mkdirSync(place.state, { recursive: true, mode: 0o700 });
  writeFileSync(passphrase, place.passphrase ?? PASSPHRASE, { mode: 0o600 });
  const store = { url: place.repository, passphrase: { file: passphrase } };
  return { defaultDestination: 'store', destinations: { store } };
}

/** A place whose agent keeps its own repository, below `directory`. */
export function embeddedPlace(directory: string): Place {
  const state = join(directory, 'state');
  // One cache for all places: compiled code is the same everywhere.
  const cache = join(tmpdir(), `holdfast-test-cache-${process.getuid?.() ?? 0}`);
  return { state, repository: join(state, 'repository'), cache };
}

/** Configures an agent, starts it once, and makes a credential for it. */
export async function prepareAgent(
  place: Place,
  settings: Readonly<Record<string, unknown>> = {},
): Promise<AgentPlace> {
  mkdirSync(place.state, { recursive: true, mode: 0o700 });
  const config = JSON.stringify({ ...AGENT_SETTINGS, ...settings });
  writeFileSync(join(place.state, 'config.json'), config, { mode: 0o600 });
  const child = launch(place, {});
  try {
    await readyLine(child);
    const [made] = jsonLines(await succeed(place, ['credentials', 'create', '--name', 'test', '--json']));
    const credential = { api_key: String(made?.['api_key']), secret: String(made?.['secret']) };
    return { ...place, credential };
  } finally {
    await endChild(child, 'SIGTERM');
  }
}

/** A test that fails leaves its agent behind. */
const launched = new Set<ChildProcess>();
process.once('exit', () => {
  for (const child of launched) child.kill('SIGKILL');
});

function launch(place: Place, more: NodeJS.ProcessEnv): ChildProcess {
  const child = spawn(process.execPath, [executable, 'start', '--port', '0', '--json'], {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: environment(place, more),
  });
  launched.add(child);
  child.once('exit', () => launched.delete(child));
  return child;
}

async function endChild(child: ChildProcess, signal: NodeJS.Signals): Promise<number | null> {
  if (child.exitCode !== null || child.signalCode !== null) return child.exitCode;
  const ended = once(child, 'exit');
  child.kill(signal);
  const [code] = (await ended) as [number | null];
  return code;
}

/** The address that it listens on. @throws what it said when it ends instead */
async function readyLine(child: ChildProcess): Promise<string> {
  let out = '';
  let err = '';
  child.stderr?.on('data', (bytes: Buffer) => {
    err = `${err}${bytes.toString()}`.slice(-4_000);
  });
  const ready = Promise.withResolvers<string>();
  child.stdout?.on('data', (bytes: Buffer) => {
    out += bytes.toString();
    const address = /"type":"ready","address":"([^"]+)"/.exec(out)?.[1];
    if (address !== undefined) ready.resolve(address);
  });
  child.once('close', (code, signal) => {
    ready.reject(new Error(`the agent ended with ${code ?? signal} before it was ready:\n${err}${out}`));
  });
  return await ready.promise;
}

/** @param launching called with the process id at once, before the agent is ready */
export async function startAgent(
  place: AgentPlace,
  more: NodeJS.ProcessEnv = {},
  launching: (pid: number) => void = () => {},
): Promise<RunningAgent> {
  const child = launch(place, more);
  const pid = child.pid ?? 0;
  launching(pid);
  const address = await readyLine(child);
  let token: string | undefined;

  const call = async (method: string, path: string, body: unknown, bearer = ''): Promise<AgentReply> => {
    const response = await fetch(`${address}/v1${path}`, {
      method,
      headers: {
        'content-type': 'application/json',
        // A connection that was kept may be closed by the other side at the very moment that it is used again.
        connection: 'close',
        ...(bearer === '' ? {} : { authorization: `Bearer ${bearer}` }),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const { data, error } = (await response.json()) as { data?: unknown; error?: { code: string } };
    return { status: response.status, data, code: error?.code };
  };
  const ask: RunningAgent['ask'] = async (method, path, body) => {
    const signIn = async (): Promise<string> =>
      ((await call('POST', '/auth/token', place.credential)).data as { token: string }).token;
    token ??= await signIn();
    const reply = await call(method, path, body, token);
    if (reply.status !== 401) return reply;
    // After an hour a token has run out.
    token = await signIn();
    return await call(method, path, body, token);
  };
  const job = async (path: string, id: string): Promise<ShownJob> => {
    const { status, data } = await ask('GET', `${path}/${id}`);
    if (status !== 200) throw new Error(`GET ${path}/${id} was answered with ${status}`);
    return data as ShownJob;
  };
  return {
    pid,
    address,
    ask,
    job,
    async submit(path, body) {
      const { status, data, code } = await ask('POST', path, body);
      if (status !== 202) throw new Error(`POST ${path} was answered with ${status} ${code}`);
      return data as ShownJob;
    },
    async finished(path, id) {
      return await until(`the end of ${id}`, async () => {
        const shown = await job(path, id);
        return shown.finished_at === null ? undefined : shown;
      });
    },
    engines: () => enginesOf(pid),
    async kill(victims) {
      const engines = enginesOf(pid);
      await endChild(child, 'SIGKILL');
      if (victims === 'agent and engines') for (const engine of engines) killHard(engine);
      return engines.filter(isAlive);
    },
    stop: async () => await endChild(child, 'SIGTERM'),
  };
}

function enginesOf(pid: number): readonly number[] {
  const children = readIfThere(`/proc/${pid}/task/${pid}/children`).trim().split(' ');
  return children.map(Number).filter((child) => child > 0 && isEngine(child));
}

export function isEngine(pid: number): boolean {
  return readIfThere(`/proc/${pid}/cmdline`).includes('engine-main');
}

export function killHard(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // It has ended already.
  }
}

function readIfThere(path: string): string {
  try {
    return readFileSync(path, 'latin1');
  } catch {
    return '';
  }
}

/** Waits until `look` finds something. */
export async function until<T>(what: string, look: () => Promise<T | undefined> | T | undefined): Promise<T> {
  const endMs = performance.now() + PATIENCE_MS;
  for (;;) {
    const found = await look();
    if (found !== undefined && found !== false) return found;
    if (performance.now() > endMs) throw new Error(`${what} did not come`);
    await sleep(20);
  }
}

/** Lease objects in a repository. */
export function leasesIn(repository: string): readonly string[] {
  const directory = join(repository, 'leases');
  if (!existsSync(directory)) return [];
  return readdirSync(directory, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && !entry.name.startsWith('.tmp-'))
    .map((entry) => join(entry.parentPath, entry.name));
}
