/** A socket of QEMU on which each line is a JSON value: one answer to each request, and events in between. */
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';

export type Json = Readonly<Record<string, unknown>>;

export class JsonLinesSocket {
  readonly #socket: Socket;
  readonly #waiting: { readonly take: (value: Json) => void; readonly fail: (error: Error) => void }[] = [];
  #rest = '';
  #ended: Error | undefined;
  readonly events: Json[] = [];

  private constructor(socket: Socket) {
    this.#socket = socket;
    socket.on('data', (bytes: Buffer) => this.#read(bytes.toString('utf8')));
    socket.on('error', () => undefined);
    socket.on('close', () => {
      this.#ended = new Error('the machine is off');
      for (const { fail } of this.#waiting.splice(0)) fail(this.#ended);
    });
  }

  static async open(path: string, withinMs: number): Promise<JsonLinesSocket> {
    const untilMs = performance.now() + withinMs;
    for (;;) {
      const socket = connect(path);
      try {
        await once(socket, 'connect');
        return new JsonLinesSocket(socket);
      } catch (error) {
        socket.destroy();
        if (performance.now() > untilMs) throw error;
        await sleep(50);
      }
    }
  }

  /** The next line that is no event, within a time. */
  async ask(request: Json, withinMs: number): Promise<Json> {
    if (this.#ended !== undefined) throw this.#ended;
    const { promise, resolve, reject } = Promise.withResolvers<Json>();
    const waiting = { take: resolve, fail: reject };
    this.#waiting.push(waiting);
    this.#socket.write(`${JSON.stringify(request)}\n`);
    const patience = setTimeout(() => {
      const place = this.#waiting.indexOf(waiting);
      if (place !== -1) this.#waiting.splice(place, 1);
      reject(new Error(`no answer within ${withinMs} ms to ${JSON.stringify(request).slice(0, 200)}`));
    }, withinMs);
    try {
      return await promise;
    } finally {
      clearTimeout(patience);
    }
  }

  close(): void {
    this.#socket.destroy();
  }

  #read(text: string): void {
    // The agent in the machine begins its answer to a synchronization with this byte, which JSON never has.
    const lines = (this.#rest + text.replaceAll('\u{FFFD}', '').replaceAll('\u{FF}', '')).split('\n');
    this.#rest = lines.pop() ?? '';
    for (const line of lines) {
      if (line.trim() === '') continue;
      const value = JSON.parse(line) as Json;
      if ('event' in value || 'QMP' in value) this.events.push(value);
      else this.#waiting.shift()?.take(value);
    }
  }
}
