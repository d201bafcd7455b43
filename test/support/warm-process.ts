/**
 * A process that has the built program loaded, and runs what it is told, one command after the other: exactly what the
 * executable does with its words, but for the start of Node.js. `warm-program.ts` starts it.
 */
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { executable } from './executable.ts';

/** One command, to the process. */
export interface WarmCommand {
  readonly words: readonly string[];
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly cwd: string;
  /** What it reads from standard input. */
  readonly input: string;
}

/** How it ended, from the process. */
export interface WarmOutcome {
  readonly code: number;
  readonly stdout: Uint8Array;
  readonly stderr: Uint8Array;
}

type Run = (words: readonly string[]) => Promise<void>;
type Written = () => void;

const built = join(import.meta.dirname, '..', '..', 'dist', 'cli', 'run.js');
const { run } = (await import(built)) as { run: Run };

/** What is written meanwhile, in place of being written. */
async function capture(work: () => Promise<void>): Promise<Pick<WarmOutcome, 'stdout' | 'stderr'>> {
  const streams = [process.stdout, process.stderr];
  const writes = streams.map((stream): unknown => Reflect.get(stream, 'write'));
  const texts = streams.map((stream) => {
    const pieces: Buffer[] = [];
    const write = (text: string | Uint8Array, encoding?: BufferEncoding | Written, then?: Written) => {
      pieces.push(
        typeof text === 'string'
          ? Buffer.from(text, typeof encoding === 'string' ? encoding : 'utf8')
          : Buffer.from(text),
      );
      const written = typeof encoding === 'function' ? encoding : then;
      if (written !== undefined) process.nextTick(written);
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
  const [stdout = Buffer.of(), stderr = Buffer.of()] = texts.map((pieces) => Buffer.concat(pieces));
  return { stdout, stderr };
}

async function runOne({ words, env, cwd, input }: WarmCommand): Promise<WarmOutcome> {
  for (const name of Object.keys(process.env)) if (env[name] === undefined) delete process.env[name];
  for (const [name, value] of Object.entries(env)) if (value !== undefined) process.env[name] = value;
  process.chdir(cwd);
  process.argv = [process.execPath, executable, ...words];
  const stdin = Readable.from(input === '' ? [] : [Buffer.from(input)]);
  Object.defineProperty(process, 'stdin', { value: stdin, configurable: true });
  const said = await capture(async () => await run(words));
  const code = Number(process.exitCode ?? 0);
  process.exitCode = undefined;
  // A run listens for what ends a program; with the program these would go.
  for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.removeAllListeners(name);
  for (const stream of [process.stdout, process.stderr]) stream.removeAllListeners('error');
  // What is removed next may be the directory it ran in.
  process.chdir('/');
  return { code, ...said };
}

process.on('message', (command: WarmCommand) => {
  void runOne(command).then((outcome) => process.send?.(outcome));
});
process.on('disconnect', () => process.exit());
