/** A server of the tests while it runs: on a free port of this machine, with a directory that goes with it. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync } from 'node:fs';
import { chmod, mkdtemp, readFile, rm } from 'node:fs/promises';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';

export interface RunningServer {
  readonly port: number;
  /** What it printed so far. */
  log(): Promise<string>;
  /** Ends it at once, as a power failure would. */
  kill(): Promise<void>;
}

export interface Command {
  readonly program: string;
  readonly parameters: readonly string[];
  readonly environment?: Readonly<Record<string, string>>;
}

/** For programs that never get there. */
const START_MS = 30_000;

/** In memory where that is possible: servers sync what they store. Others may enter, as servers change their user. */
export async function scratchDirectory(name: string): Promise<string> {
  const base = await mkdtemp(join(tmpdir(), `holdfast-${name}-`));
  await chmod(base, 0o755);
  return base;
}

/** Resolves when the port is open. Rejects with what the program printed when it ends before. */
export async function runServer(
  port: number,
  directory: string,
  { program, parameters, environment = {} }: Command,
): Promise<RunningServer> {
  const logFile = join(directory, `log-${port}`);
  const log = openSync(logFile, 'a');
  const child = spawn(program, parameters, {
    stdio: ['ignore', log, log],
    env: { ...process.env, ...environment },
  });
  closeSync(log);
  const ended = once(child, 'exit');
  const failed = once(child, 'error');
  const printed = async (): Promise<string> => await readFile(logFile, 'utf8').catch(() => '');
  const startedBy = performance.now() + START_MS;
  const over = Promise.race([ended, failed]).then(
    () => 'over' as const,
    () => 'over' as const,
  );
  while (!(await isOpen(port))) {
    const next = await Promise.race([over, delay(50)]);
    if (next === 'over' || performance.now() > startedBy) {
      child.kill('SIGKILL');
      throw new Error(`${program} did not start: ${(await printed()).slice(-2_000)}`);
    }
  }
  return {
    port,
    log: printed,
    kill: async () => {
      child.kill('SIGKILL');
      await over;
      // What it had started ends a moment later.
      while (await isOpen(port)) await delay(20);
    },
  };
}

async function isOpen(port: number): Promise<boolean> {
  const socket = connect({ host: '127.0.0.1', port });
  try {
    await once(socket, 'connect');
    return true;
  } catch {
    return false;
  } finally {
    socket.destroy();
  }
}

export async function removeDirectory(directory: string): Promise<void> {
  await rm(directory, { recursive: true, force: true, maxRetries: 3 });
}
