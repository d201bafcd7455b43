/**
 * Runs commands in a process that has the program loaded already. Most of what a sweep runs after a fault is short, and
 * half of its time would be the start of Node.js.
 */
import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { describeFailure, environment, run, type Outcome, type Place } from './program.ts';
import type { WarmCommand, WarmOutcome } from './warm-process.ts';

/** One command in so many has a process of its own: a prime above what any trial runs, so that each comes to its turn. */
const OWN_PROCESS_EVERY = 11;
/** Then comes another process: what one leaves to the next stays small. */
const MOST_COMMANDS = 60;

let commands = 0;
let process_: { readonly child: ChildProcess; left: number } | undefined;

/** Runs a command to its end, whatever that is, as {@link run} does: every eleventh one by that. */
export async function runAgain(
  place: Place,
  words: readonly string[],
  more: NodeJS.ProcessEnv = {},
): Promise<Outcome> {
  commands += 1;
  if (commands % OWN_PROCESS_EVERY === 0) return await run(place, words, more);
  const child = warmProcess();
  const began = performance.now();
  const outcome = await ask(child, { words, env: environment(place, more) });
  return { ...outcome, killed: false, durationMs: performance.now() - began };
}

/** Runs a command that must succeed. */
export async function succeedAgain(place: Place, words: readonly string[]): Promise<Outcome> {
  const outcome = await runAgain(place, words);
  if (outcome.code !== 0) throw new Error(describeFailure(words, outcome));
  return outcome;
}

function warmProcess(): ChildProcess {
  if (process_ === undefined || process_.left === 0 || !process_.child.connected) {
    process_?.child.kill();
    const child = fork(join(import.meta.dirname, 'warm-process.ts'), {
      execArgv: ['--no-warnings'],
      stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
    });
    child.unref();
    child.channel?.unref();
    process_ = { child, left: MOST_COMMANDS };
  }
  process_.left -= 1;
  return process_.child;
}

/** A process that dies over a command is a failure of that command. */
async function ask(
  child: ChildProcess,
  command: WarmCommand,
): Promise<Omit<Outcome, 'killed' | 'durationMs'>> {
  const over = new AbortController();
  const { signal } = over;
  child.ref();
  child.channel?.ref();
  try {
    child.send(command);
    return await Promise.race([
      once(child, 'message', { signal }).then(([outcome]) => outcome as WarmOutcome),
      once(child, 'exit', { signal }).then(([code, name]) => ({
        code: code as number | null,
        stdout: '',
        stderr: `the process ended with ${String(code ?? name)}`,
      })),
    ]);
  } finally {
    over.abort();
    child.unref();
    child.channel?.unref();
  }
}
