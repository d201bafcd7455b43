/**
 * The real daemon in this process, with engine processes, a state directory and HTTP of its own, on a clock that can be
 * put forward: `await using site = await openDaemonSite()` removes everything at the end.
 */
import { randomBytes } from 'node:crypto';
import { mkdirSync, mkdtempSync, realpathSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { expect } from 'vitest';
import { createRedactor } from '../../src/base/redact.ts';
import type { ControlCall, ControlCalls } from '../../src/control/calls.ts';
import { callAgent } from '../../src/control/client.ts';
import { startDaemon } from '../../src/daemon/daemon.ts';
import type { Daemon, DaemonOptions } from '../../src/daemon/daemon-options.ts';
import { createLog } from '../../src/base/log.ts';
import type { Agent, PublicStatus } from '../../src/jobs/agent.ts';
import type { BackupOptions, Job, JobTrigger, JobType } from '../../src/jobs/job.ts';
import { TEST_CACHE } from './code-cache.ts';
import { hastyClock, type HastyClock } from './hasty-clock.ts';
import { removeTree } from './remove-tree.ts';

/** Of repositories that the settings name no passphrase for. */
export const PASSPHRASE = 'correct horse battery staple';

/** Milliseconds that anything may take. */
const PATIENCE_MS = 60_000;

type Files = Readonly<Record<string, string | Uint8Array>>;

export interface DaemonSite extends AsyncDisposable {
  readonly directory: string;
  /** An empty directory at first. */
  readonly source: string;
  readonly state: string;
  readonly configFile: string;
  readonly clock: HastyClock;
  readonly daemon: Daemon;
  readonly agent: Agent;
  /** Lines of the log from `warn` on. */
  readonly log: readonly string[];
  /** Makes files below the source. */
  write(files: Files): void;
  /** Writes the configuration, and waits until it is in force. */
  configure(document: object): Promise<void>;
  /** Asks for a backup of the source and waits for its end. */
  backUp(options?: Partial<BackupOptions>, trigger?: JobTrigger): Promise<Job>;
  ended(id: string): Promise<Job>;
  /** Waits for the newest job of that type to end that was not there before `since`. */
  endOfNext(type: JobType, since: readonly Job[]): Promise<Job>;
  jobs(type?: JobType): readonly Job[];
  /** Over the local socket, as the command line does. */
  ask<K extends ControlCall>(call: K, input: ControlCalls[K]['in']): Promise<ControlCalls[K]['out']>;
  /** `GET /v1/status` without a token. */
  status(): Promise<PublicStatus>;
  /** `GET` with a token. */
  get<T>(path: string): Promise<T>;
  restart(meanwhile?: () => void): Promise<void>;
}

const { PATH, HOME } = process.env;
/**
 * The environment of an agent whose passphrases cost what they do for everybody: a second of processor time each. Its
 * engine processes start several times as fast when their code need not be stripped of types and compiled again.
 */
export const AT_USUAL_COST = { PATH, HOME, NODE_COMPILE_CACHE: join(TEST_CACHE, 'engine') };

const { signal } = new AbortController();

export async function openDaemonSite({
  sourceName = 'source',
  ...options
}: Partial<DaemonOptions> & { readonly sourceName?: string } = {}): Promise<DaemonSite> {
  const directory = realpathSync(mkdtempSync(join(tmpdir(), 'holdfast-daemon-')));
  const [source, state] = [join(directory, sourceName), join(directory, 'state')];
  for (const path of [source, state]) mkdirSync(path, { mode: 0o700 });
  const configFile = join(state, 'config.json');
  writeFileSync(join(state, 'passphrase'), PASSPHRASE, { mode: 0o600 });
  const clock = hastyClock();
  const machineKey = randomBytes(32);
  const log: string[] = [];
  const start = async (): Promise<Daemon> =>
    await startDaemon({
      stateDirectory: state,
      configFile,
      configRequired: false,
      port: 0,
      version: '0.0.0',
      environment: { ...AT_USUAL_COST, HOLDFAST_TEST_KDF: '64,1,1' },
      clock,
      // Its level is that of the settings.
      log: createLog('warn', { write: (line) => void (line.startsWith('{"level":30,') || log.push(line)) }),
      redactor: createRedactor(),
      forget: () => undefined,
      machineKey: async () => await Promise.resolve(machineKey),
      now: [],
      // The process of a test holds much, and the time that is put forward makes every minute one of rest.
      returnMemory: () => undefined,
      // All that a test has is on one disk.
      sameDisk: () => false,
      ...options,
    });
  let daemon = await start();
  let token: string | undefined;
  const jobs = (type?: JobType): readonly Job[] =>
    daemon.agent.jobs({ limit: 100, ...(type === undefined ? {} : { types: [type] }) });
  const ended = async (id: string): Promise<Job> => {
    const job = await daemon.agent.waitFor(id, PATIENCE_MS, signal);
    if (job.finished_at === null) throw new Error(`${id} is still ${job.status}: ${job.waiting_for}`);
    return job;
  };
  return {
    directory,
    source,
    state,
    configFile,
    clock,
    get daemon() {
      return daemon;
    },
    get agent() {
      return daemon.agent;
    },
    log,
    write(files) {
      for (const [name, content] of Object.entries(files)) {
        const path = join(source, name);
        mkdirSync(dirname(path), { recursive: true });
        writeFileSync(path, content);
      }
    },
    async configure(document) {
      const { revision } = daemon.config.state;
      writeFileSync(configFile, JSON.stringify(document), { mode: 0o600 });
      await daemon.config.reload();
      expect(daemon.config.state).toMatchObject({ status: 'ok', error: null });
      expect(daemon.config.state.revision).not.toBe(revision);
    },
    async backUp(options = {}, trigger = 'api') {
      return await ended((await daemon.agent.requestBackup({ source, options }, trigger)).id);
    },
    ended,
    async endOfNext(type, since) {
      const known = new Set(since.map(({ id }) => id));
      const next = await eventually(() => jobs(type).find(({ id }) => !known.has(id)), `a ${type}`);
      return await ended(next.id);
    },
    jobs,
    ask: async (call, input) => await callAgent(join(state, 'run'), call, input, signal),
    status: async () => (await json<{ data: PublicStatus }>(daemon, '/v1/status')).data,
    async get<T>(path: string) {
      const ask = async (): Promise<Response> => {
        token ??= await signIn(state, daemon);
        return await request(daemon, path, { headers: { authorization: `Bearer ${token}` } });
      };
      let reply = await ask();
      if (reply.status === 401) {
        // A token is good for an hour, also of a clock that was put forward.
        token = undefined;
        reply = await ask();
      }
      return (await reply.json()) as T;
    },
    async restart(meanwhile) {
      await daemon[Symbol.asyncDispose]();
      meanwhile?.();
      daemon = await start();
    },
    async [Symbol.asyncDispose]() {
      await daemon[Symbol.asyncDispose]();
      removeTree(directory);
    },
  };
}

async function request({ listening }: Daemon, path: string, init: RequestInit = {}): Promise<Response> {
  return await fetch(`http://127.0.0.1:${listening.port}${path}`, init);
}

async function json<T>(daemon: Daemon, path: string, init: RequestInit = {}): Promise<T> {
  return (await (await request(daemon, path, init)).json()) as T;
}

async function signIn(state: string, daemon: Daemon): Promise<string> {
  const made = await callAgent(join(state, 'run'), 'create_credential', { name: 'test' }, signal);
  const { data } = await json<{ data: { access_token: string } }>(daemon, '/v1/auth/token', {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ api_key: made.api_key, secret: made.secret }),
  });
  return data.access_token;
}

/** Asks again and again until there is an answer that is not undefined or false. */
export async function eventually<T>(
  ask: () => T | undefined | false | Promise<T | undefined | false>,
  what: string,
): Promise<T> {
  const beganMs = performance.now();
  for (;;) {
    const answer = await ask();
    if (answer !== undefined && answer !== false) return answer;
    if (performance.now() - beganMs > PATIENCE_MS) throw new Error(`${what} did not come`);
    await delay(20);
  }
}
