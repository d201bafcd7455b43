/**
 * Runs commands in processes that have the program loaded already. Most commands of tests are short, and most of their
 * time would be the start of Node.js.
 */
import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { Socket } from 'node:net';
import { join } from 'node:path';
import { SOURCE_FLAGS } from './node-flags.ts';
import type { WarmCommand, WarmOutcome } from './warm-process.ts';

/** How a command ended; without a code when its process did not survive it. */
export interface RunOutcome {
  readonly code: number | null;
  readonly stdout: Buffer;
  readonly stderr: Buffer;
}

/** One command in so many has a process of its own: a prime above what any trial runs, so that each comes to its turn. */
const OWN_PROCESS_EVERY = 11;
/** Then comes another process: what one leaves to the next stays small. */
const MOST_COMMANDS = 60;

interface WarmProcess {
  readonly child: ChildProcess;
  left: number;
}

let commands = 0;
const idle: WarmProcess[] = [];

/** Whether it is the turn of a command to be started as people start it. */
export function isTurnOfOwnProcess(): boolean {
  commands += 1;
  return commands % OWN_PROCESS_EVERY === 0;
}

/** Runs a command to its end, whatever that is. Several at once have a process each. */
export async function runWarm(command: WarmCommand): Promise<RunOutcome> {
  const warm = idle.pop() ?? startProcess();
  warm.left -= 1;
  const outcome = await ask(warm.child, command);
  if (warm.left > 0 && warm.child.connected) idle.push(warm);
  else if (warm.child.connected) warm.child.disconnect();
  return outcome;
}

function startProcess(): WarmProcess {
  const child = fork(join(import.meta.dirname, 'warm-process.ts'), {
    execArgv: [...SOURCE_FLAGS],
    serialization: 'advanced',
    stdio: ['ignore', 'pipe', 'inherit', 'ipc'],
  });
  child.stdout?.resume();
  rest(child);
  return { child, left: MOST_COMMANDS };
}

/** It keeps nobody from ending. */
function rest(child: ChildProcess): void {
  child.unref();
  child.channel?.unref();
  // Its pipe is one of the things that a script would wait for.
  if (child.stdout instanceof Socket) child.stdout.unref();
}

/** A process that dies over a command is a failure of that command. */
async function ask(child: ChildProcess, command: WarmCommand): Promise<RunOutcome> {
  const over = new AbortController();
  const { signal } = over;
  child.ref();
  child.channel?.ref();
  try {
    child.send(command);
    return await Promise.race([
      once(child, 'message', { signal }).then(([outcome]) => received(outcome as WarmOutcome)),
      once(child, 'exit', { signal }).then(([code, name]) => ({
        code: code as number | null,
        stdout: Buffer.of(),
        stderr: Buffer.from(`the process ended with ${String(code ?? name)}`),
      })),
    ]);
  } finally {
    over.abort();
    rest(child);
  }
}

function received({ code, stdout, stderr }: WarmOutcome): RunOutcome {
  return { code, stdout: Buffer.from(stdout), stderr: Buffer.from(stderr) };
}
