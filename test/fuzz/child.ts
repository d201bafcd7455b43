/** Processes that fuzz, from outside: started, asked, and outlived. */
import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { SOURCE_FLAGS } from '../support/node-flags.ts';
import type { Failure } from './failure.ts';
import { FILES, type Judged } from './fuzz-process.ts';
import { published } from './published.ts';

const PROGRAM = join(import.meta.dirname, 'fuzz-process.ts');
/** Garbage is collected soon, so that what the process grows by is what an input takes. A heap that is full ends it. */
const FLAGS = [...SOURCE_FLAGS, '--expose-gc', '--max-semi-space-size=4', '--max-old-space-size=320'];

export interface FuzzChild {
  readonly process: ChildProcess;
  readonly directory: string;
  /** What it printed on its standard error, of which a dying engine prints much. */
  readonly printed: () => string;
  [Symbol.dispose](): void;
}

export function startChild(words: readonly string[]): FuzzChild {
  const directory = mkdtempSync(join(tmpdir(), 'holdfast-fuzz-'));
  const child = fork(PROGRAM, [...words, '--work', directory], {
    execArgv: FLAGS,
    stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
  });
  let printed = '';
  child.stderr?.on('data', (bytes: Buffer) => {
    printed = (printed + bytes.toString()).slice(-4_000);
  });
  return {
    process: child,
    directory,
    printed: () => printed,
    [Symbol.dispose]() {
      child.kill('SIGKILL');
      rmSync(directory, { recursive: true, force: true });
    },
  };
}

/** Why a process ended that should not have: its watch says so, or the input at work is to blame. */
export function causeOfDeath(child: FuzzChild): Failure {
  const told = join(child.directory, FILES.failure);
  if (existsSync(told)) return JSON.parse(readFileSync(told, 'utf8')) as Failure;
  const printed = child.printed();
  const kind = /heap out of memory|allocation fail/i.test(printed) ? 'memory' : 'crash';
  const { exitCode, signalCode } = child.process;
  const input = published(join(child.directory, FILES.input)).toString('base64');
  return { kind, message: `the process died (${signalCode ?? exitCode}): ${printed.slice(-1_000)}`, input };
}

/** Judges single inputs, each in a process that no failure went before. */
export class Judge {
  readonly #target: string;
  #child: FuzzChild | undefined;

  constructor(target: string) {
    this.#target = target;
  }

  /** Undefined when nothing is wrong with it. */
  async judge(input: Uint8Array): Promise<Failure | undefined> {
    this.#child ??= await this.#started();
    const child = this.#child;
    const answered = once(child.process, 'message').then(([message]: unknown[]) => message as Judged);
    const died = once(child.process, 'exit').then(() => 'died' as const);
    child.process.send(Buffer.from(input).toString('base64'));
    const outcome = await Promise.race([answered, died]);
    if (outcome === null) return undefined;
    const failure = outcome === 'died' ? causeOfDeath(child) : outcome;
    this[Symbol.dispose]();
    return failure;
  }

  async #started(): Promise<FuzzChild> {
    const child = startChild(['judge', this.#target]);
    const died = once(child.process, 'exit').then(() => 'died' as const);
    const first = await Promise.race([once(child.process, 'message'), died]);
    if (first === 'died') {
      const printed = child.printed();
      child[Symbol.dispose]();
      throw new Error(`The judge of ${this.#target} did not start: ${printed}`);
    }
    return child;
  }

  [Symbol.dispose](): void {
    this.#child?.[Symbol.dispose]();
    this.#child = undefined;
  }
}
