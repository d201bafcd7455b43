/** The real program as a child process, and ways to kill it. */
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';
import { executable } from '../support/executable.ts';

const killer = pathToFileURL(join(import.meta.dirname, 'kill-at-call.ts')).href;

export const PASSPHRASE = 'sweep: correct horse battery staple';

/** How a run of the program ended. */
export interface Outcome {
  readonly code: number | null;
  /** It was killed before it could end by itself. */
  readonly killed: boolean;
  readonly stdout: string;
  readonly stderr: string;
  readonly durationMs: number;
}

/** When a run is killed. */
export type Moment =
  | { readonly kind: 'time'; readonly afterMs: number }
  /** As soon as `reached` says so; it is asked about once a millisecond. */
  | { readonly kind: 'event'; readonly name: string; readonly reached: () => boolean }
  /** Immediately before the numbered one of the calls that change a directory, or of others. */
  | { readonly kind: 'call'; readonly number: number; readonly calls?: CountedCalls | undefined };

/** Calls of an agent to SQLite, and the synchronous ones to the file system that go with them. */
export interface CountedCalls {
  /** What the last one of interest has in its words. */
  readonly until: string;
}

export function shownMoment(moment: Moment): string {
  switch (moment.kind) {
    case 'time':
      return `after ${Math.round(moment.afterMs)} ms`;
    case 'event':
      return moment.name;
    case 'call':
      return `before call ${moment.number}`;
  }
}

/** A repository, the state directory of the machine that uses it, and the program to use it with. */
export interface Place {
  readonly repository: string;
  readonly state: string;
  /** Where compiled code is kept between runs. */
  readonly cache: string;
  /** PASSPHRASE when absent. */
  readonly passphrase?: string | undefined;
}

export function environment(
  { repository, state, cache, passphrase }: Place,
  more: NodeJS.ProcessEnv,
): NodeJS.ProcessEnv {
  const inherited = Object.entries(process.env).filter(
    ([name]) => !name.startsWith('HOLDFAST_') && !name.startsWith('VITEST') && !name.startsWith('NODE_'),
  );
  return {
    ...Object.fromEntries(inherited),
    HOLDFAST_REPOSITORY: repository,
    HOLDFAST_STATE_DIR: state,
    XDG_CACHE_HOME: cache,
    HOLDFAST_PASSWORD: passphrase ?? PASSPHRASE,
    HOLDFAST_TEST_KDF: '64,1,1',
    ...more,
  };
}

/** The program as a child process; its standard input is empty. */
export function start(place: Place, words: readonly string[], more: NodeJS.ProcessEnv): ChildProcess {
  const env = environment(place, more);
  return spawn(process.execPath, [executable, ...words], { stdio: ['ignore', 'pipe', 'pipe'], env });
}

export async function outcomeOf(child: ChildProcess): Promise<Outcome> {
  const started = performance.now();
  const out: Buffer[] = [];
  const err: Buffer[] = [];
  child.stdout?.on('data', (bytes: Buffer) => out.push(bytes));
  child.stderr?.on('data', (bytes: Buffer) => err.push(bytes));
  const [code, signal] = (await once(child, 'close')) as [number | null, NodeJS.Signals | null];
  return {
    code,
    killed: signal === 'SIGKILL',
    stdout: Buffer.concat(out).toString(),
    stderr: Buffer.concat(err).toString(),
    durationMs: performance.now() - started,
  };
}

/** Runs a command to its end, whatever that is. */
export async function run(
  place: Place,
  words: readonly string[],
  more: NodeJS.ProcessEnv = {},
): Promise<Outcome> {
  return await outcomeOf(start(place, words, more));
}

/** Runs a command that must succeed. */
export async function succeed(
  place: Place,
  words: readonly string[],
  more: NodeJS.ProcessEnv = {},
): Promise<Outcome> {
  const outcome = await run(place, words, more);
  if (outcome.code !== 0) throw new Error(describeFailure(words, outcome));
  return outcome;
}

export function describeFailure(words: readonly string[], { code, stdout, stderr }: Outcome): string {
  const said = [stderr.trim(), stdout.trim().slice(-2_000)].filter((text) => text !== '').join('\n');
  return `holdfast ${words.join(' ')} ended with ${code}:\n${said}`;
}

/** Runs a command and kills it at `moment`. It may have ended before: `killed` says so. */
export async function runAndKill(place: Place, words: readonly string[], moment: Moment): Promise<Outcome> {
  if (moment.kind === 'call')
    return await runHooked(place, words, moment.calls, { SWEEP_KILL_AT_CALL: String(moment.number) });
  const child = start(place, words, {});
  const ending = outcomeOf(child);
  const kill = moment.kind === 'time' ? killLater(child, moment.afterMs) : killWhen(child, moment.reached);
  const outcome = await ending;
  await kill;
  return outcome;
}

async function killLater(child: ChildProcess, afterMs: number): Promise<void> {
  const ended = new AbortController();
  child.once('exit', () => ended.abort());
  await sleep(afterMs, undefined, { signal: ended.signal }).catch(() => {});
  child.kill('SIGKILL');
}

async function killWhen(child: ChildProcess, reached: () => boolean): Promise<void> {
  while (child.exitCode === null && child.signalCode === null) {
    if (reached()) {
      child.kill('SIGKILL');
      return;
    }
    await sleep(1);
  }
}

/** An agent goes on for ever: it is told to end once it is ready. */
async function runHooked(
  place: Place,
  words: readonly string[],
  calls: CountedCalls | undefined,
  more: NodeJS.ProcessEnv,
): Promise<Outcome> {
  const env = { ...more, NODE_OPTIONS: `--import=${killer}` };
  if (calls === undefined) return await run(place, words, env);
  const child = start(place, words, { ...env, SWEEP_KILL_CALLS: 'state', SWEEP_CALLS_UNTIL: calls.until });
  child.stdout?.on('data', (bytes: Buffer) => {
    if (bytes.includes('"type":"ready"')) child.kill('SIGTERM');
  });
  return await outcomeOf(child);
}

/** How many calls that change a directory, or of others, a command makes that runs to its end. */
export async function countCalls(
  place: Place,
  words: readonly string[],
  calls?: CountedCalls,
): Promise<number> {
  const file = `${place.state}.calls`;
  const outcome = await runHooked(place, words, calls, { SWEEP_CALLS_FILE: file });
  if (outcome.code !== 0) throw new Error(describeFailure(words, outcome));
  const count = Number(readFileSync(file, 'utf8'));
  rmSync(file);
  return count;
}

/** The objects of a command's `--json` output, one on each line. */
export function jsonLines({ stdout }: Pick<Outcome, 'stdout'>): Record<string, unknown>[] {
  return stdout
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as Record<string, unknown>);
}
