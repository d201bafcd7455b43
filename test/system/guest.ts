/** Commands in the machine, as root, by way of QEMU's guest agent: it needs neither a network nor anybody signed in. */
import { setTimeout as sleep } from 'node:timers/promises';
import { JsonLinesSocket, type Json } from './json-lines-socket.ts';

export interface Outcome {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

export interface CommandOptions {
  readonly withinMs?: number;
  readonly input?: string | Uint8Array;
}

const USUAL_MS = 120_000;
const ANSWER_MS = 30_000;

interface ExecStatus {
  readonly exited: boolean;
  /** Missing when a signal has ended it. */
  readonly exitcode?: number;
  readonly 'out-data'?: string;
  readonly 'err-data'?: string;
}

function plain(base64 = ''): string {
  return Buffer.from(base64, 'base64').toString('utf8');
}

/** What a command said when it was not to fail. */
export class CommandFailed extends Error {
  override readonly name = 'CommandFailed';
  readonly outcome: Outcome;

  constructor(command: string, outcome: Outcome) {
    const { code, stdout, stderr } = outcome;
    super(`exit ${code}: ${command.slice(0, 400)}\n${stdout.slice(-1_500)}\n${stderr.slice(-1_500)}`);
    this.outcome = outcome;
  }
}

export class Guest {
  readonly #socket: JsonLinesSocket;

  private constructor(socket: JsonLinesSocket) {
    this.#socket = socket;
  }

  /** Waits until the agent in the machine answers, which is when the machine has booted. */
  static async reach(path: string, withinMs: number): Promise<Guest> {
    const untilMs = performance.now() + withinMs;
    for (let number = Date.now() % 1_000_000; ; number += 1) {
      const socket = await JsonLinesSocket.open(path, withinMs);
      try {
        const { return: echoed } = await socket.ask(
          { execute: 'guest-sync', arguments: { id: number } },
          2_000,
        );
        if (echoed === number) return new Guest(socket);
      } catch (error) {
        if (performance.now() > untilMs) throw error;
      }
      socket.close();
      await sleep(250);
    }
  }

  /** @throws {CommandFailed} */
  async run(script: string, options: CommandOptions = {}): Promise<string> {
    const outcome = await this.try(script, options);
    if (outcome.code !== 0) throw new CommandFailed(script, outcome);
    return outcome.stdout;
  }

  /** The same where failing is an answer too. */
  async try(script: string, { withinMs = USUAL_MS, input }: CommandOptions = {}): Promise<Outcome> {
    const untilMs = performance.now() + withinMs;
    const started = await this.#ask('guest-exec', {
      path: '/bin/sh',
      arg: ['-c', script],
      env: [
        'PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin',
        'HOME=/root',
        'LANG=C.UTF-8',
      ],
      'capture-output': true,
      ...(input === undefined ? {} : { 'input-data': Buffer.from(input).toString('base64') }),
    });
    const { pid } = started as { pid: number };
    for (let pauseMs = 30; ; pauseMs = Math.min(3_000, pauseMs * 1.3)) {
      const state = (await this.#ask('guest-exec-status', { pid })) as ExecStatus;
      if (state.exited)
        return {
          code: state.exitcode ?? -1,
          stdout: plain(state['out-data']),
          stderr: plain(state['err-data']),
        };
      if (performance.now() > untilMs)
        throw new Error(`still at work after ${withinMs} ms: ${script.slice(0, 200)}`);
      await sleep(pauseMs);
    }
  }

  /** Asks until the script succeeds; what it then printed. */
  async until(script: string, withinMs: number, pauseMs = 500): Promise<string> {
    const untilMs = performance.now() + withinMs;
    for (;;) {
      const outcome = await this.try(script, { withinMs: Math.max(USUAL_MS, withinMs) });
      if (outcome.code === 0) return outcome.stdout;
      if (performance.now() > untilMs)
        throw new CommandFailed(`not within ${withinMs} ms: ${script}`, outcome);
      await sleep(pauseMs);
    }
  }

  async write(path: string, content: string, mode = '0644'): Promise<void> {
    await this.run(`install -D -m ${mode} /dev/stdin '${path}'`, { input: content });
  }

  close(): void {
    this.#socket.close();
  }

  async #ask(execute: string, parameters: Json): Promise<unknown> {
    const answer = await this.#socket.ask({ execute, arguments: parameters }, ANSWER_MS);
    if ('error' in answer) throw new Error(`${execute}: ${JSON.stringify(answer['error'])}`);
    return answer['return'];
  }
}
