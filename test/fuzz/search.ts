/** The search: inputs that reach something new are kept, and the next ones are made of them. */
import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { seededRandom, type SeededRandom } from '../support/seeded-random.ts';
import { clearCounters, coverageOf, noteNew, type FileCoverage } from './coverage.ts';
import { crash, signatureOf, type Failure } from './failure.ts';
import { mutate } from './mutate.ts';
import { publish } from './published.ts';
import type { FuzzTarget } from './target.ts';
import type { Watch } from './watch.ts';

export { watchSources } from './coverage.ts';

export interface SearchOptions {
  readonly seed: number;
  readonly seconds: number;
  /** Descriptor of the file that the input at work is written to. */
  readonly inputFile: number;
  /** Inputs that reached something new are read from it and written to it. */
  readonly keptDirectory: string;
  /** A search goes on after a failure, until there are so many different ones. */
  readonly mostFailures: number;
}

export interface Summary {
  readonly executions: number;
  /** Of these, how many the parser took. */
  readonly taken: number;
  readonly seconds: number;
  /** Of the processor: what else the machine does takes none of it. */
  readonly processorSeconds: number;
  /** Inputs of which each reached something that those before it did not. */
  readonly kept: number;
  /** Milliseconds of processor time that the slowest input took. */
  readonly slowestMs: number;
  /** By how much the process grew while it ran, garbage included. */
  readonly grownBytes: number;
  readonly coverage: readonly FileCoverage[];
  readonly failures: readonly Failure[];
}

/** Kept inputs that are read again. */
const MOST_READ = 20_000;
/** Executions after which the process gets a turn: what native objects hold is freed between two turns. */
const TURN_EVERY = 32;
/** Executions after which garbage is looked at, and bytes of it that are too much. */
const TIDY_EVERY = 2_048;
const MUCH_GARBAGE = 48 * 1024 * 1024;

export async function search(target: FuzzTarget, watch: Watch, options: SearchOptions): Promise<Summary> {
  const random = seededRandom(options.seed);
  const pool: Buffer[] = [];
  const failures = new Map<string, Failure>();
  const counts = { executions: 0, taken: 0, slowestMs: 0 };

  const tryOut = async (input: Buffer, isSeed: boolean): Promise<void> => {
    publish(options.inputFile, input);
    clearCounters();
    watch.begin();
    const started = process.cpuUsage();
    let failure: Failure | undefined;
    try {
      const verdict = target.run(Buffer.from(input));
      if ((verdict instanceof Promise ? await verdict : verdict) === 'taken') counts.taken += 1;
    } catch (error) {
      failure = crash(error, input);
    }
    const grownBy = watch.end();
    const { user, system } = process.cpuUsage(started);
    counts.slowestMs = Math.max(counts.slowestMs, (user + system) / 1_000);
    counts.executions += 1;
    if (grownBy !== undefined) {
      const message = `the process grew by ${Math.round(grownBy / 1_048_576)} MiB`;
      failure ??= { kind: 'memory', message, input: input.toString('base64') };
      watch.settle();
    }
    if (failure !== undefined) failures.set(signatureOf(failure), failure);
    const reached = noteNew();
    if (isSeed || (reached > 0 && failure === undefined)) pool.push(Buffer.from(input));
    if (reached > 0 && !isSeed) keep(options.keptDirectory, input);
    if (counts.executions % TURN_EVERY === 0) await setImmediate();
  };

  for (const seed of target.seeds) await tryOut(Buffer.from(seed), true);
  watch.settle();
  const baseline = process.memoryUsage.rss();
  const usageBefore = process.cpuUsage();
  const started = performance.now();
  const elapsed = (): number => (performance.now() - started) / 1_000;
  for (const input of readKept(options.keptDirectory)) {
    if (elapsed() < options.seconds / 2) await tryOut(input.subarray(0, target.maxBytes), false);
  }
  if (pool.length === 0) pool.push(Buffer.alloc(0));
  const words = (target.words ?? []).map((word) => Buffer.from(word));
  while (elapsed() < options.seconds && failures.size < options.mostFailures) {
    const chosen = choose(pool, random);
    const isStructured = target.change !== undefined && random.below(2) === 0;
    const changed = isStructured
      ? (target.change?.(Buffer.from(chosen), random) ?? chosen).subarray(0, target.maxBytes)
      : mutate(chosen, {
          random,
          maxBytes: target.maxBytes,
          words,
          other: () => choose(pool, random),
        });
    await tryOut(changed, false);
    if (counts.executions % TIDY_EVERY === 0 && process.memoryUsage.rss() > baseline + MUCH_GARBAGE)
      globalThis.gc?.();
  }
  const { user, system } = process.cpuUsage(usageBefore);
  return {
    ...counts,
    seconds: elapsed(),
    processorSeconds: (user + system) / 1e6,
    kept: pool.length,
    grownBytes: Math.max(0, process.resourceUsage().maxRSS * 1024 - baseline),
    coverage: target.files.map(coverageOf),
    failures: [...failures.values()],
  };
}

/** Every second time one of those that were found last: they are nearest to what was not reached yet. */
function choose(pool: readonly Buffer[], random: SeededRandom): Buffer {
  const newest = Math.min(pool.length, 24);
  const index = random.below(2) === 0 ? pool.length - 1 - random.below(newest) : random.below(pool.length);
  return pool[index] ?? Buffer.alloc(0);
}

function keep(directory: string, input: Buffer): void {
  const name = createHash('sha1').update(input).digest('hex');
  writeFileSync(join(directory, name), input);
}

function readKept(directory: string): readonly Buffer[] {
  mkdirSync(directory, { recursive: true });
  return readdirSync(directory)
    .sort()
    .slice(0, MOST_READ)
    .map((name) => readFileSync(join(directory, name)));
}
