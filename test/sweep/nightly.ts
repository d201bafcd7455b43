/**
 * The long counts of the fault catalogue, one entry after the other: `npm run test:nightly`. `--only F05,names` chooses
 * lines of the catalogue and names of entries, `--parts 1` takes so many parts of each, `--from 12` begins with that part,
 * so that two may share an entry, `--list` shows all. What held stands in NIGHTLY_RESULTS (nightly.jsonl) with its commit and
 * the program: a run goes on behind what has held with the same program, or with any by `--any-program`. Ends with 1 when
 * something did not hold.
 */
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { appendFileSync, existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { ENTRIES, type Entry } from './nightly-entries.ts';
import type { SweepCounts } from './settings.ts';

interface PartResult extends SweepCounts {
  readonly entry: string;
  readonly part: number;
  readonly commit: string;
  /** The trees that {@link programNow} names. */
  readonly program: string;
  readonly ok: boolean;
  /** Why not; absent when it held. */
  readonly reason?: string;
  readonly seconds: number;
  readonly seed: number;
  readonly lines: readonly string[];
}

const root = join(import.meta.dirname, '..', '..');
const results = process.env['NIGHTLY_RESULTS'] ?? join(root, 'nightly.jsonl');
const { values } = parseArgs({
  options: {
    only: { type: 'string' },
    parts: { type: 'string' },
    from: { type: 'string', default: '1' },
    list: { type: 'boolean' },
    'any-program': { type: 'boolean' },
  },
});
/** What of the repository is tried. */
const PROGRAM = ['src', 'service', 'package-lock.json', 'test/sweep'];
const chosen = chooseEntries(values.only?.split(',') ?? []);
const most = Number(values.parts ?? Number.POSITIVE_INFINITY);
if (!(most >= 1)) throw new Error(`--parts is "${values.parts}", which is no count`);
const first = Number(values.from);
if (!(first >= 1)) throw new Error(`--from is "${values.from}", which is no part`);

if (values.list === true) {
  for (const { name, faults, parts, env } of chosen)
    print(`${name.padEnd(18)} ${faults.join(' ').padEnd(16)} ${parts} × ${JSON.stringify(env(1))}`);
} else await runAll();

function chooseEntries(only: readonly string[]): readonly Entry[] {
  const fits = (word: string, { name, faults }: Entry): boolean => name === word || faults.includes(word);
  const unknown = only.filter((word) => !ENTRIES.some((entry) => fits(word, entry)));
  if (unknown.length > 0) throw new Error(`there is no ${unknown.join(', ')}; --list shows what there is`);
  return only.length === 0 ? ENTRIES : ENTRIES.filter((entry) => only.some((word) => fits(word, entry)));
}

async function runAll(): Promise<void> {
  const { program } = programNow();
  const seed = Number(process.env['SWEEP_SEED'] ?? 1 + (Date.now() % 1_000_000_000));
  const before = resultsBefore().filter((one) => one.program === program || values['any-program'] === true);
  const all: PartResult[] = [];
  for (const entry of chosen) {
    for (let part = first; part <= Math.min(entry.parts, first - 1 + most); part += 1) {
      const done = before.findLast((one) => one.entry === entry.name && one.part === part && one.ok);
      if (done === undefined) print(`${entry.name}, part ${part} of ${entry.parts}, seed ${seed + part}`);
      const result = done ?? (await runPart(entry, part, seed + part));
      if (done === undefined) appendFileSync(results, `${JSON.stringify(result)}\n`);
      if (result.reason !== undefined) print(`${entry.name}, part ${part}: ${result.reason}`);
      all.push(result);
    }
  }
  printTable(all);
  if (all.some(({ ok }) => !ok)) process.exitCode = 1;
}

/**
 * What is tried: the sources, what they are built on, and the sweeps. A commit of documents leaves it as it is; whoever
 * has changes of it that are not committed begins anew.
 */
function programNow(): { readonly commit: string; readonly program: string } {
  const git = (...words: string[]): readonly string[] =>
    execFileSync('git', words, { cwd: root, encoding: 'utf8' }).trim().split('\n');
  const isChanged = git('status', '--porcelain', '--untracked-files=no', '--', ...PROGRAM).join('') !== '';
  const change = isChanged ? ` changed ${new Date().toISOString()}` : '';
  const trees = git('ls-tree', '--object-only', '--abbrev=12', 'HEAD', ...PROGRAM);
  return {
    commit: `${git('rev-parse', '--short=12', 'HEAD').join('')}${change}`,
    program: `${trees.join(' ')}${change}`,
  };
}

function resultsBefore(): readonly PartResult[] {
  return linesOf(results).map((line) => JSON.parse(line) as PartResult);
}

/** None where there is no file. */
function linesOf(path: string): readonly string[] {
  return existsSync(path) ? readFileSync(path, 'utf8').split('\n').filter(Boolean) : [];
}

/** A part that ends well without a fault that struck has shown nothing. */
async function runPart(entry: Entry, part: number, seed: number): Promise<PartResult> {
  const now = programNow();
  const directory = mkdtempSync(join(tmpdir(), 'holdfast-nightly-'));
  const figures = join(directory, 'figures');
  const config = entry.suite === 'default' ? 'test/vitest.config.ts' : 'test/sweep/vitest.config.ts';
  const words = [join(root, 'node_modules', 'vitest', 'vitest.mjs'), 'run', '--config', config];
  if (entry.file !== '') words.push(entry.file);
  if (entry.test !== undefined) words.push('-t', entry.test);
  const env = { ...process.env, ...entry.env(part), SWEEP_SEED: String(seed), SWEEP_FIGURES: figures };
  const started = performance.now();
  const child = spawn(process.execPath, words, { cwd: root, env, stdio: 'inherit' });
  const [code] = (await once(child, 'close')) as [number | null];
  const said = linesOf(figures).map((line) => JSON.parse(line) as SweepCounts & { readonly line: string });
  rmSync(directory, { recursive: true });
  const counted = sum(said);
  const reason = whyNot(code, counted, entry);
  return {
    entry: entry.name,
    part,
    ...now,
    ok: reason === undefined,
    ...(reason === undefined ? {} : { reason }),
    ...counted,
    // A sweep that ends at the first violation cannot count it.
    violations: code === 0 ? counted.violations : Math.max(1, counted.violations),
    seconds: Math.round((performance.now() - started) / 1_000),
    seed,
    lines: said.map(({ line }) => line).filter((line) => line !== ''),
  };
}

/** Undefined when it held. */
function whyNot(
  code: number | null,
  { fired, violations }: SweepCounts,
  { faults }: Entry,
): string | undefined {
  if (violations > 0) return `${violations} violations`;
  if (code !== 0) return `ended with ${code ?? 'a signal'}`;
  return fired === 0 && faults.length > 0 ? 'ended well, and told of no fault that struck' : undefined;
}

function sum(counts: readonly SweepCounts[]): SweepCounts {
  const total = (key: keyof SweepCounts): number => counts.reduce((before, one) => before + one[key], 0);
  return { trials: total('trials'), fired: total('fired'), violations: total('violations') };
}

function printTable(all: readonly PartResult[]): void {
  const rows = [['entry', 'faults', 'parts', 'trials', 'fired', 'violations', 'seconds']];
  for (const { name, faults, parts } of chosen) {
    const mine = all.filter(({ entry }) => entry === name);
    const { trials, fired, violations } = sum(mine);
    const seconds = mine.reduce((total, one) => total + one.seconds, 0);
    const numbers = [trials, fired, violations, seconds].map(String);
    rows.push([name, faults.join(' '), `${mine.filter(({ ok }) => ok).length}/${parts}`, ...numbers]);
  }
  const widths = rows[0]?.map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0))) ?? [];
  print('');
  for (const row of rows) print(row.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join('  '));
}

function print(line: string): void {
  process.stdout.write(`${line}\n`);
}
