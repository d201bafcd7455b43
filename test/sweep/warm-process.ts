/**
 * A process that has the built program loaded, and runs what it is told, one command after the other: exactly what the
 * executable does with its words, but for the start of Node.js. `warm-program.ts` starts it.
 */
import { join } from 'node:path';

/** One command, to the process. */
export interface WarmCommand {
  readonly words: readonly string[];
  readonly env: Readonly<Record<string, string | undefined>>;
}

/** How it ended, from the process. */
export interface WarmOutcome {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

type Run = (words: readonly string[]) => Promise<void>;
type Write = (text: string | Uint8Array) => boolean;

const built = join(import.meta.dirname, '..', '..', 'dist', 'cli', 'run.js');
const { run } = (await import(built)) as { run: Run };

/** What is written meanwhile, in place of being written. */
async function capture(work: () => Promise<void>): Promise<{ stdout: string; stderr: string }> {
  const streams = [process.stdout, process.stderr];
  const writes = streams.map((stream): unknown => Reflect.get(stream, 'write'));
  const texts = streams.map((stream) => {
    const pieces: Buffer[] = [];
    const write: Write = (text) => {
      pieces.push(Buffer.from(text as string));
      return true;
    };
    Reflect.set(stream, 'write', write);
    return pieces;
  });
  try {
    await work();
  } finally {
    for (const [i, stream] of streams.entries()) Reflect.set(stream, 'write', writes[i]);
  }
  const [stdout = '', stderr = ''] = texts.map((pieces) => Buffer.concat(pieces).toString());
  return { stdout, stderr };
}

async function runOne({ words, env }: WarmCommand): Promise<WarmOutcome> {
  for (const name of Object.keys(process.env)) if (!(name in env)) delete process.env[name];
  Object.assign(process.env, env);
  const said = await capture(async () => await run(words));
  const code = Number(process.exitCode ?? 0);
  process.exitCode = undefined;
  // A run listens for what ends a program; with the program these would go.
  for (const name of ['SIGINT', 'SIGTERM']) process.removeAllListeners(name);
  for (const stream of [process.stdout, process.stderr]) stream.removeAllListeners('error');
  return { code, ...said };
}

process.on('message', (command: WarmCommand) => {
  void runOne(command).then((outcome) => process.send?.(outcome));
});
