/** The figures for people: medians per tool, and Holdfast as a fraction of each other tool. */

import { availableParallelism, cpus, release, totalmem, type } from 'node:os';
import { measures } from './rounds.ts';
import type { Measure, Run, SourceResult } from './rounds.ts';
import type { Tool } from './tools.ts';

export interface BenchResult {
  readonly machine: string;
  readonly versions: readonly string[];
  readonly rounds: number;
  readonly sources: readonly SourceResult[];
}

interface Spread {
  readonly median: number;
  readonly low: number;
  readonly high: number;
}

/** Medians of the counted runs of one tool in one measure. */
interface Summary {
  readonly wall: Spread;
  readonly processor: Spread;
  readonly tree: Spread;
  readonly largestProcess: Spread;
  readonly stored: Spread | undefined;
  readonly grownBy: Spread | undefined;
  readonly runs: number;
}

const titles: Readonly<Record<Measure, string>> = {
  first: 'First backup',
  unchanged: 'Nothing changed',
  next: 'Next version',
  restore: 'Restore to memory',
  'restore-disk': 'Restore to disk',
  check: 'Check, all data read',
};

export function machineLine(): string {
  const memory = (totalmem() / 2 ** 30).toFixed(0);
  const model = cpus()[0]?.model.trim() ?? 'unknown processor';
  return `${model}, ${availableParallelism()} cores, ${memory} GiB memory, ${type()} ${release()}`;
}

export function versionLines(tools: readonly Tool[]): readonly string[] {
  return tools.map((tool) => tool.version);
}

export function markdown(result: BenchResult): string {
  const lines = [
    '# Benchmark',
    '',
    `Machine: ${result.machine}  `,
    `Versions: ${result.versions.join('; ')}  `,
    `Medians of ${result.rounds} rounds (lowest-highest) after one that does not count; the tools take turns; data in memory before ` +
      'every run. CPU is user + system time of all processes, memory the peak of the whole process tree, stored the sum of ' +
      'file sizes in the repository. A × column says how much holdfast takes of what the tool of that row takes: ' +
      'below 1 is less.',
  ];
  for (const source of result.sources) lines.push('', ...sourceLines(source));
  return `${lines.join('\n')}\n`;
}

function sourceLines(source: SourceResult): readonly string[] {
  const { contents } = source;
  const size = `${(contents.bytes / 1e6).toFixed(1)} MB`;
  const what = source.kind === 'image' ? 'one file' : `${contents.files} files`;
  const lines = [`## ${source.name}: ${what}, ${size}`];
  for (const measure of measures) {
    const runs = source.runs.filter((run) => run.measure === measure && run.round > 0);
    if (runs.length > 0) lines.push('', `### ${titles[measure]}`, '', ...table(measure, runs));
  }
  if (source.notes.length > 0) lines.push('', ...source.notes.map((note) => `- ${note}`));
  return lines;
}

function table(measure: Measure, runs: readonly Run[]): readonly string[] {
  const tools = [...new Set(runs.map((run) => run.tool))];
  const summaries = new Map(tools.map((tool) => [tool, summarize(runs.filter((run) => run.tool === tool))]));
  const ours = summaries.get('holdfast');
  const stores = runs.some((run) => run.stored !== undefined);
  const header = ['tool', 'wall s', 'CPU s', 'memory MiB'];
  if (stores) header.push(measure === 'first' ? 'stored MB' : 'added MB');
  header.push('× wall', '× CPU', '× memory');
  if (stores) header.push('× stored');
  const rows = [...summaries].map(([tool, summary]) => {
    const { wall, processor, tree, grownBy } = summary;
    const compared = tool === 'holdfast' ? undefined : ours;
    const cells = [
      tool === 'cp' ? 'cp -a' : tool,
      `${shown(wall.median)} (${shown(wall.low)}-${shown(wall.high)})`,
      shown(processor.median),
      (tree.median / 2 ** 20).toFixed(0),
    ];
    if (stores) cells.push(grownBy === undefined ? '' : (grownBy.median / 1e6).toFixed(3));
    cells.push(
      ratio(compared?.wall, wall),
      ratio(compared?.processor, processor),
      ratio(compared?.tree, tree),
    );
    if (stores) cells.push(ratio(compared?.grownBy, grownBy));
    return cells;
  });
  return [header, header.map(() => '---'), ...rows].map((cells) => `| ${cells.join(' | ')} |`);
}

function summarize(runs: readonly Run[]): Summary {
  const of = (value: (run: Run) => number): Spread => spread(runs.map(value));
  const stored = runs.flatMap((run) => (run.stored === undefined ? [] : [run.stored]));
  return {
    wall: of((run) => run.wallSeconds),
    processor: of((run) => run.userSeconds + run.systemSeconds),
    tree: of((run) => run.treeBytes),
    largestProcess: of((run) => run.largestProcessBytes),
    stored: stored.length === 0 ? undefined : spread(stored.map((sizes) => sizes.bytes)),
    grownBy: stored.length === 0 ? undefined : spread(stored.map((sizes) => sizes.grownBy)),
    runs: runs.length,
  };
}

function spread(values: readonly number[]): Spread {
  const sorted = values.toSorted((left, right) => left - right);
  const at = (index: number): number => sorted[index] ?? Number.NaN;
  const middle = Math.floor(sorted.length / 2);
  const median = sorted.length % 2 === 1 ? at(middle) : (at(middle - 1) + at(middle)) / 2;
  return { median, low: at(0), high: at(sorted.length - 1) };
}

function shown(seconds: number): string {
  return seconds.toFixed(seconds < 10 ? 2 : 1);
}

function ratio(ours: Spread | undefined, theirs: Spread | undefined): string {
  if (ours === undefined || theirs === undefined || theirs.median <= 0) return '';
  return (ours.median / theirs.median).toFixed(2);
}

/** All runs, and the medians the tables show. */
export function json(result: BenchResult): string {
  const sources = result.sources.map((source) => ({
    ...source,
    medians: measures.flatMap((measure) => {
      const runs = source.runs.filter((run) => run.measure === measure && run.round > 0);
      return [...new Set(runs.map((run) => run.tool))].map((tool) => ({
        measure,
        tool,
        ...summarize(runs.filter((run) => run.tool === tool)),
      }));
    }),
  }));
  return `${JSON.stringify({ ...result, sources }, undefined, 1)}\n`;
}
