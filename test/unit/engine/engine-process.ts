/** The real engine process, and a source, a destination and a state directory for it to work on. */

import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, realpathSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import type { EngineJob, EngineOutcome, FromEngine, ToEngine } from '../../../src/engine/protocol.ts';
import type { BackupOptions, BackupSpec, JobError, JobSpec, RestoreSpec } from '../../../src/jobs/job.ts';
import { CODE_CACHE } from '../../support/code-cache.ts';
import { SOURCE_FLAGS } from '../../support/node-flags.ts';
import { removeTree } from '../../support/remove-tree.ts';

export const PASSPHRASE = 'correct horse battery staple';

export const ENGINE_MAIN = join(import.meta.dirname, '../../../src/engine/engine-main.ts');

export type LastMessage = Extract<FromEngine, { kind: 'completed' | 'failed' | 'canceled' }>;

export interface Ended {
  readonly last: LastMessage;
  /** All that was told of the job, the last message included. */
  readonly messages: readonly FromEngine[];
}

export interface EngineProcess extends AsyncDisposable {
  readonly child: ChildProcess;
  send(message: ToEngine): void;
  /** Hands a job over and waits for its last message. */
  run(job: EngineJob): Promise<Ended>;
  /** Waits for the next message of that kind, from now on. */
  next<K extends FromEngine['kind']>(kind: K): Promise<Extract<FromEngine, { kind: K }>>;
  /** Asks it to end; resolves with its exit code. */
  end(): Promise<number | null>;
}

export interface EngineStart {
  /** A program and its words to put before node. */
  readonly under?: readonly string[];
  /** Whether it is told at once that what it opened is remembered; default true. */
  readonly remembers?: boolean;
}

export async function startEngine({
  under = [],
  remembers = true,
}: EngineStart = {}): Promise<EngineProcess> {
  const [program, ...words] = [...under, process.execPath];
  const child = fork(ENGINE_MAIN, {
    serialization: 'advanced',
    env: engineEnvironment(),
    ...(program === undefined ? {} : { execPath: program }),
    execArgv: [...words, ...SOURCE_FLAGS],
  });
  const exited = once(child, 'exit');
  const log = logMessages(child);
  const send = (message: ToEngine): void => {
    child.send(message);
  };
  const next: EngineProcess['next'] = async (kind) => {
    for (let at = log.messages.length; ; at += 1) {
      const message = await log.at(at);
      if (isKind(message, kind)) return message;
    }
  };
  const run = async (job: EngineJob): Promise<Ended> => {
    const from = log.messages.length;
    send({ kind: 'run', job });
    for (let at = from; ; at += 1) {
      const last = await log.at(at);
      if (last.kind === 'completed' || last.kind === 'failed' || last.kind === 'canceled')
        return { last, messages: log.messages.slice(from, at + 1) };
    }
  };
  child.on('message', (message: FromEngine) => {
    if (message.kind === 'opened' && remembers) send({ kind: 'remembered' });
  });
  await log.at(0);
  return {
    child,
    send,
    run,
    next,
    end: async () => {
      if (child.connected) send({ kind: 'end' });
      const [code] = (await exited) as [number | null];
      return code;
    },
    async [Symbol.asyncDispose]() {
      if (child.exitCode === null && child.signalCode === null) {
        child.kill('SIGKILL');
        await exited;
      }
    },
  };
}

export function engineEnvironment(): NodeJS.ProcessEnv {
  const inherited = Object.entries(process.env).filter(([name]) => !/^(HOLDFAST|VITEST|NODE)/.test(name));
  return { ...Object.fromEntries(inherited), HOLDFAST_TEST_KDF: '64,1,1', NODE_COMPILE_CACHE: CODE_CACHE };
}

interface MessageLog {
  readonly messages: readonly FromEngine[];
  /** Waits for the message of that number; rejects when the process ends before. */
  at(number: number): Promise<FromEngine>;
}

function logMessages(child: ChildProcess): MessageLog {
  const messages: FromEngine[] = [];
  let ended: string | undefined;
  let changed = Promise.withResolvers<undefined>();
  const wake = (): void => {
    changed.resolve(undefined);
    changed = Promise.withResolvers();
  };
  child.on('message', (message: FromEngine) => {
    messages.push(message);
    wake();
  });
  child.on('close', (code, name) => {
    ended = `the engine process ended with ${String(code ?? name)}`;
    wake();
  });
  return {
    messages,
    async at(number) {
      for (;;) {
        const message = messages[number];
        if (message !== undefined) return message;
        if (ended !== undefined) throw new Error(ended);
        await changed.promise;
      }
    },
  };
}

function isKind<K extends FromEngine['kind']>(
  message: FromEngine,
  kind: K,
): message is Extract<FromEngine, { kind: K }> {
  return message.kind === kind;
}

export interface EngineSite extends Disposable {
  readonly directory: string;
  readonly source: string;
  readonly store: string;
  readonly state: string;
  /** Makes files below the source. */
  write(files: Readonly<Record<string, string | Uint8Array>>): void;
  job(spec: JobSpec, overrides?: JobOverrides): EngineJob;
  backup(options?: Partial<BackupOptions>): BackupSpec;
  restore(
    snapshot: string,
    target: string | null,
    options?: Partial<RestoreSpec['options']>,
    paths?: RestoreSpec['paths'],
  ): RestoreSpec;
}

export interface JobOverrides extends Partial<Omit<EngineJob, 'destination'>> {
  readonly destination?: Partial<EngineJob['destination']>;
}

let jobs = 0;

export function openSite(): EngineSite {
  const directory = realpathSync(mkdtempSync(join(tmpdir(), 'holdfast-engine-process-')));
  const [source, store, state] = ['source', 'store', 'state'].map((name) => join(directory, name)) as [
    string,
    string,
    string,
  ];
  mkdirSync(source);
  mkdirSync(state, { mode: 0o700 });
  return {
    directory,
    source,
    store,
    state,
    write(files) {
      for (const [name, content] of Object.entries(files)) {
        const path = join(source, name);
        mkdirSync(dirname(path), { recursive: true });
        writeFileSync(path, content);
      }
    },
    job(spec, { destination = {}, ...overrides } = {}) {
      jobs += 1;
      return {
        id: `${spec.type}_${jobs}`,
        spec,
        destination: {
          name: 'default',
          url: store,
          secret: { kind: 'passphrase', text: PASSPHRASE },
          repositoryId: null,
          uploadLimit: null,
          ...destination,
        },
        stateDirectory: state,
        never: [],
        changes: null,
        exclude: {
          patterns: [],
          ignoreFiles: [],
          caches: false,
          ifPresent: [],
          largerThan: null,
          oneFileSystem: false,
        },
        retention: null,
        emptyExpected: false,
        workers: 1,
        ...overrides,
      };
    },
    backup: (options = {}) => ({
      type: 'backup',
      source,
      destination: 'default',
      options: {
        compression: 'zstd',
        encryption: true,
        deduplication: true,
        exclude: [],
        tags: [],
        dry_run: false,
        ...options,
      },
    }),
    restore: (snapshot_id, target, options = {}, paths = []) => ({
      type: 'restore',
      destination: 'default',
      snapshot_id,
      paths,
      target,
      options: {
        overwrite: 'never',
        dry_run: false,
        verify: true,
        delete_extra: false,
        restore_ownership: process.getuid?.() === 0,
        ...options,
      },
    }),
    [Symbol.dispose]: () => removeTree(directory),
  };
}

/** The outcome of a job that completed; fails with what it said otherwise. */
export function completed({ last }: Ended): EngineOutcome {
  if (last.kind === 'completed') return last.outcome;
  throw new Error(`the job ${JSON.stringify(last)}`);
}

export function failed({ last }: Ended): JobError {
  if (last.kind === 'failed') return last.error;
  throw new Error(`the job ${JSON.stringify(last)}`);
}

export function notesOf({ messages }: Ended): readonly string[] {
  return messages.flatMap((message) => (message.kind === 'note' ? [message.text] : []));
}

export function phasesOf({ messages }: Ended): readonly string[] {
  return messages.flatMap((message) => (message.kind === 'phase' ? [message.phase] : []));
}
