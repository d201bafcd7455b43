/**
 * Fuzzes every parser: `npm run test:fuzz -- [--minutes 10] [--target NAME]... [--seed N] [--jobs 2]`. Each target runs
 * in a process of its own, two at once. What fails is shrunk and written to test/fuzz/corpus, where npm test finds it.
 */
import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { causeOfDeath, Judge, startChild } from './child.ts';
import { FILES } from './fuzz-process.ts';
import { signatureOf, type Failure } from './failure.ts';
import type { Summary } from './search.ts';
import { shrink } from './shrink.ts';
import { TARGET_NAMES } from './targets/all.ts';

export const CORPUS = join(import.meta.dirname, 'corpus');

export interface RunOptions {
  readonly seconds: number;
  readonly seed: number;
  /** Inputs that reached something new are kept below it from run to run. */
  readonly kept: string;
  /** Different ones, after which a search ends: 10 when absent. */
  readonly mostFailures?: number;
}

export interface Outcome {
  readonly target: string;
  /** Of each process that lived to its end: a failure may end one, and another goes on. */
  readonly summaries: readonly Summary[];
  readonly failures: readonly Failure[];
}

/** Processes that an input may end, of one target in one run. */
const MOST_DEATHS = 5;
const WAITS_AFTER_END_MS = 600_000;

export async function runTarget(target: string, options: RunOptions): Promise<Outcome> {
  const summaries: Summary[] = [];
  const failures: Failure[] = [];
  const end = performance.now() + options.seconds * 1_000;
  for (let round = 0; round <= MOST_DEATHS; round += 1) {
    const seconds = (end - performance.now()) / 1_000;
    if (seconds <= 0) break;
    const kept = join(options.kept, target);
    const seed = String(options.seed + round);
    const words = ['--seconds', String(seconds), '--seed', seed, '--kept', kept];
    const failureWords = ['--failures', String(options.mostFailures ?? 10)];
    using child = startChild(['search', target, ...words, ...failureWords]);
    const code = await ended(child.process, seconds * 1_000 + WAITS_AFTER_END_MS);
    if (code !== 0) {
      failures.push(causeOfDeath(child));
      continue;
    }
    const text = readFileSync(join(child.directory, FILES.summary), 'utf8');
    const summary = JSON.parse(text) as Summary;
    summaries.push(summary);
    failures.push(...summary.failures);
    break;
  }
  return { target, summaries, failures };
}

/** The exit code; null for a process that a signal ended. One that does not end is ended. */
async function ended(
  child: ReturnType<typeof startChild>['process'],
  mostMs: number,
): Promise<number | null> {
  const timer = setTimeout(() => child.kill('SIGKILL'), mostMs);
  try {
    return await new Promise((resolve) => child.once('exit', resolve));
  } finally {
    clearTimeout(timer);
  }
}

/** A failure as it is told: shrunk, and judged by itself in a fresh process. */
export interface Confirmed {
  readonly failure: Failure;
  readonly input: Buffer;
  /** False when the input alone does nothing: what came before it had a part in the failure. */
  readonly isAlone: boolean;
}

export async function confirm(target: string, failure: Failure): Promise<Confirmed> {
  using judge = new Judge(target);
  const input = Buffer.from(failure.input, 'base64');
  const first = await judge.judge(input);
  if (first === undefined) return { failure, input, isAlone: false };
  const signature = signatureOf(first);
  // A crash is judged at once; for a hang the watch has to wait each time.
  const tries = first.kind === 'crash' ? 3_000 : 40;
  const small = await shrink(
    input,
    async (candidate) => {
      const found = await judge.judge(candidate);
      return found !== undefined && signatureOf(found) === signature;
    },
    tries,
  );
  return { failure: first, input: small, isAlone: true };
}

function store(target: string, { input }: Confirmed): string {
  const directory = join(CORPUS, target);
  mkdirSync(directory, { recursive: true });
  const path = join(directory, createHash('sha256').update(input).digest('hex').slice(0, 16));
  writeFileSync(path, input);
  return path;
}

function describe({ target, summaries, failures }: Outcome): string {
  const executions = summaries.reduce((sum, one) => sum + one.executions, 0);
  const seconds = summaries.reduce((sum, one) => sum + one.processorSeconds, 0);
  const last = summaries.at(-1);
  const figures = [
    target.padEnd(24),
    String(executions).padStart(10),
    String(Math.round(executions / Math.max(1, seconds))).padStart(8),
    `${Math.round((100 * (last?.taken ?? 0)) / Math.max(1, last?.executions ?? 1))}%`.padStart(6),
    String(last?.kept ?? 0).padStart(7),
    `${Math.round(last?.slowestMs ?? 0)}`.padStart(8),
    `${Math.round((last?.grownBytes ?? 0) / 1_048_576)}`.padStart(6),
    String(failures.length).padStart(9),
  ];
  const coverage = (last?.coverage ?? []).map(({ file, blocks, reached }) => {
    return `${file.replace('src/', '')} ${reached}/${blocks}`;
  });
  return `${figures.join('')}  ${coverage.join(', ')}`;
}

const HEADING = `${'target'.padEnd(24)}   inputs  per s*  taken   kept  most ms   MiB  failures  blocks reached`;

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: {
      minutes: { type: 'string', default: '10' },
      target: { type: 'string', multiple: true, default: [] },
      seed: { type: 'string', default: String(Date.now() % 1_000_000) },
      jobs: { type: 'string', default: '2' },
      kept: {
        type: 'string',
        default: join(process.env['XDG_CACHE_HOME'] ?? join(homedir(), '.cache'), 'holdfast-fuzz'),
      },
    },
  });
  const unknown = values.target.find((name) => !TARGET_NAMES.includes(name));
  if (unknown !== undefined) throw new Error(`There is no target ${unknown}: ${TARGET_NAMES.join(', ')}.`);
  const names = values.target.length > 0 ? values.target : TARGET_NAMES;
  const options = { seconds: Number(values.minutes) * 60, seed: Number(values.seed), kept: values.kept };
  process.stdout.write(`${names.length} targets, ${values.minutes} minutes each, seed ${options.seed}\n`);
  process.stdout.write(`* of processor time\n${HEADING}\n`);
  const waiting = [...names];
  let failed = 0;
  const work = async (): Promise<void> => {
    for (let name = waiting.shift(); name !== undefined; name = waiting.shift()) {
      const outcome = await runTarget(name, options);
      process.stdout.write(`${describe(outcome)}\n`);
      const told = new Set<string>();
      for (const failure of outcome.failures) {
        if (told.has(signatureOf(failure))) continue;
        told.add(signatureOf(failure));
        failed += 1;
        const confirmed = await confirm(name, failure);
        const path = store(name, confirmed);
        const alone = confirmed.isAlone ? '' : ' (not by this input alone)';
        process.stdout.write(`  ${confirmed.failure.kind}${alone}: ${path}\n${confirmed.failure.message}\n`);
      }
    }
  };
  await Promise.all(Array.from({ length: Number(values.jobs) }, work));
  process.stdout.write(failed === 0 ? 'No failure.\n' : `${failed} failures.\n`);
  process.exitCode = failed === 0 ? 0 : 1;
}

if (process.argv[1] === import.meta.filename) await main();
