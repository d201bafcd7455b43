/**
 * The process in which a parser is fuzzed: `search TARGET`, or `judge TARGET` for inputs that come as messages. It may
 * be ended at any time by its own watch, by the system, or by the parser.
 */
import { openSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { crash, type Failure } from './failure.ts';
import { publish } from './published.ts';
import { MOST_MEMORY, type FuzzTarget } from './target.ts';
import { loadTarget } from './targets/all.ts';
import { startWatch, type Watch } from './watch.ts';

/** Files in the working directory of the process. */
export const FILES = { input: 'input', failure: 'failure.json', summary: 'summary.json' } as const;

/** What is sent to a judge: base64. What it sends back: a failure, or null. */
export type Judged = Failure | null;

function judge(target: FuzzTarget, watch: Watch, file: number): void {
  process.on('message', (message) => {
    void (async () => {
      const input = Buffer.from(String(message), 'base64');
      process.send?.(await judgeOne(target, watch, file, input));
    })();
  });
  process.on('disconnect', () => process.exit(0));
  watch.settle();
  process.send?.('ready');
}

async function judgeOne(target: FuzzTarget, watch: Watch, file: number, input: Buffer): Promise<Judged> {
  publish(file, input);
  watch.begin();
  let failure: Judged = null;
  try {
    await target.run(Buffer.from(input));
  } catch (error) {
    failure = crash(error, input);
  }
  const grownBy = watch.end();
  if (grownBy === undefined || failure !== null) return failure;
  watch.settle();
  const message = `the process grew by ${Math.round(grownBy / 1_048_576)} MiB`;
  return { kind: 'memory', message, input: input.toString('base64') };
}

async function main(): Promise<void> {
  const { positionals, values } = parseArgs({
    allowPositionals: true,
    options: {
      work: { type: 'string', default: '.' },
      kept: { type: 'string', default: '' },
      seconds: { type: 'string', default: '60' },
      seed: { type: 'string', default: '1' },
      failures: { type: 'string', default: '10' },
    },
  });
  const [mode, name = ''] = positionals;
  const inputPath = join(values.work, FILES.input);
  const inputFile = openSync(inputPath, 'w');
  // The counters have to be there before the parser is loaded.
  const searching = mode === 'search' ? await import('./search.ts') : undefined;
  searching?.watchSources();
  const target = await loadTarget(name);
  const watch = await startWatch({
    inputFile: inputPath,
    failureFile: join(values.work, FILES.failure),
    mostMemory: target.mostMemory ?? MOST_MEMORY,
  });
  if (searching === undefined) {
    judge(target, watch, inputFile);
    return;
  }
  const summary = await searching.search(target, watch, {
    seed: Number(values.seed),
    seconds: Number(values.seconds),
    inputFile,
    keptDirectory: values.kept,
    mostFailures: Number(values.failures),
  });
  writeFileSync(join(values.work, FILES.summary), JSON.stringify(summary));
  await watch.close();
  // A parser under test may have left timers.
  process.exit(0);
}

if (process.argv[1] === import.meta.filename) await main();
