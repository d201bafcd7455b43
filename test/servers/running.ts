/** Server processes of tests: on free ports of this machine, stopped by their own process ids. */
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync, readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer, connect, type AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';

/** A port that nothing listened on a moment ago. */
export async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}

/** Directory, log and processes of one server. */
export interface Place extends AsyncDisposable {
  readonly directory: string;
  /** For the output of processes. */
  readonly log: number;
  /** Ended with the place, in reverse order. */
  keep(child: ChildProcess): ChildProcess;
  /** Resolves when something answers there. Rejects with the log when a process ends before. */
  answers(port: number): Promise<void>;
  /** Asks again until it is true. */
  until(what: string, look: () => Promise<boolean>): Promise<void>;
}

const PATIENCE_MS = 120_000;

export async function makePlace(name: string): Promise<Place> {
  const directory = await mkdtemp(join(tmpdir(), `holdfast-server-${name}-`));
  const logFile = join(directory, 'log');
  const log = openSync(logFile, 'a');
  const children: ChildProcess[] = [];
  const failure = (what: string): Error =>
    new Error(`${name} ${what}:\n${readFileSync(logFile, 'utf8').slice(-3_000)}`);

  async function until(what: string, look: () => Promise<boolean>): Promise<void> {
    const deadline = performance.now() + PATIENCE_MS;
    while (!(await look())) {
      if (children.some(({ exitCode, signalCode }) => exitCode !== null || signalCode !== null))
        throw failure('ended by itself');
      if (performance.now() > deadline) throw failure(what);
      await delay(50);
    }
  }

  return {
    directory,
    log,
    keep(child) {
      children.push(child);
      return child;
    },
    answers: async (port) => await until('does not answer', async () => await accepts(port)),
    until,
    async [Symbol.asyncDispose]() {
      for (const child of children.toReversed()) await end(child);
      closeSync(log);
      await rm(directory, { recursive: true, force: true });
    },
  };
}

async function accepts(port: number): Promise<boolean> {
  const socket = connect(port, '127.0.0.1');
  try {
    return await Promise.race([
      once(socket, 'connect').then(() => true),
      // Whoever listens accepts at once on this machine.
      delay(2_000).then(() => false),
    ]);
  } catch {
    return false;
  } finally {
    socket.destroy();
  }
}

/** Politely, then not. */
async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = once(child, 'close');
  child.kill('SIGTERM');
  const patience = setTimeout(() => child.kill('SIGKILL'), 2_000);
  await ended;
  clearTimeout(patience);
}
