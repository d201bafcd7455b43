/**
 * Holdfast beside its peers, in one run on one machine: see `usage`. Peers are found in PATH (`restic`, `borg-1.4` or
 * `borg`); nothing is installed. Progress goes to standard error, the report to standard output or --output.
 */

import { mkdirSync, mkdtempSync, realpathSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { removeTree } from '../support/remove-tree.ts';
import { json, machineLine, markdown, versionLines } from './bench-report.ts';
import { measureSource, measures } from './rounds.ts';
import type { Measure, Plan, Source, SourceResult } from './rounds.ts';
import { findTool, toolNames } from './tools.ts';
import type { Tool } from './tools.ts';

const usage = `usage: npm run bench -- [options] DIR [NEXTDIR] [DIR NEXTDIR]…
  Directories come in pairs: a tree and its next version ("-" or nothing for none).
  --image FILE [NEXTFILE]  one large file as a source, and its next version
  --rounds N               counted rounds, at least 1 (default 3)
  --only TOOLS             of ${toolNames.join(',')} (default: those found)
  --measure MEASURES       of ${measures.join(',')}
                           (default: all but restore-disk)
  --restore-disk           measure restoring to disk too, beside cp -a
  --scratch DIR            where repositories and copies go (default: the system's)
  --timeout SECONDS        for each command (default 600)
  --output FILE.md         where the tables go (default: standard output)
  --json FILE              where all figures go
  --holdfast FILE          another holdfast.js to measure
`;

/** The arguments cannot be understood or fulfilled; exit code 2. */
class UsageError extends Error {
  override readonly name = 'UsageError';
}

interface Request {
  readonly sources: readonly Source[];
  readonly rounds: number;
  readonly tools: readonly Tool[];
  readonly missing: readonly string[];
  readonly measures: readonly Measure[];
  readonly scratch: string;
  readonly timeoutSeconds: number;
  readonly output: string | undefined;
  readonly json: string | undefined;
}

function understand(parameters: readonly string[]): Request {
  const { values, tokens } = parseArgs({
    args: [...parameters],
    allowPositionals: true,
    tokens: true,
    options: {
      image: { type: 'string', multiple: true },
      rounds: { type: 'string', default: '3' },
      only: { type: 'string' },
      measure: { type: 'string' },
      'restore-disk': { type: 'boolean', default: false },
      scratch: { type: 'string', default: tmpdir() },
      timeout: { type: 'string', default: '600' },
      output: { type: 'string' },
      json: { type: 'string' },
      holdfast: { type: 'string', default: path.join(import.meta.dirname, '../../service/bin/holdfast.js') },
    },
  });
  const chosen = values.measure === undefined ? undefined : choice(values.measure, measures, '--measure');
  const listed = chosen ?? measures.filter((measure) => measure !== 'restore-disk');
  const only = values.only === undefined ? undefined : choice(values.only, toolNames, '--only');
  const tools: Tool[] = [];
  const missing: string[] = [];
  for (const name of only ?? toolNames) {
    const found = findTool(name, path.resolve(values.holdfast));
    if (!('missing' in found)) tools.push(found);
    else if (only === undefined) missing.push(`${name} left out: ${found.missing}`);
    else throw new UsageError(`${name}: ${found.missing}`);
  }
  if (tools.length === 0) throw new UsageError(`nothing to measure: ${missing.join('; ')}`);
  const sources = pairs(tokens);
  if (sources.length === 0) throw new UsageError('no directory and no image given');
  return {
    sources,
    rounds: positive(values.rounds, '--rounds'),
    tools,
    missing,
    measures:
      values['restore-disk'] && !listed.includes('restore-disk') ? [...listed, 'restore-disk'] : listed,
    scratch: path.resolve(values.scratch),
    timeoutSeconds: positive(values.timeout, '--timeout'),
    output: values.output,
    json: values.json,
  };
}

function choice<T extends string>(list: string, from: readonly T[], option: string): readonly T[] {
  return list.split(',').map((word) => {
    const found = from.find((candidate) => candidate === word);
    if (found === undefined) throw new UsageError(`${option}: ${word} is none of ${from.join(',')}`);
    return found;
  });
}

function positive(text: string, option: string): number {
  const number = Number(text);
  if (!Number.isInteger(number) || number < 1) throw new UsageError(`${option}: ${text} is no number from 1`);
  return number;
}

type Token = NonNullable<ReturnType<typeof parseArgs>['tokens']>[number];

/** Sources in the order given: the first path of a pair, then its next version. */
function pairs(tokens: readonly Token[]): readonly Source[] {
  const sources: Source[] = [];
  let open: Source | undefined;
  const close = (source: Source | undefined): void => {
    if (source !== undefined) sources.push(source);
    open = undefined;
  };
  for (const token of tokens) {
    if (token.kind === 'option' && token.name === 'image') {
      close(open);
      open = { kind: 'image', path: existing(token.value ?? '', 'image') };
    } else if (token.kind === 'option') {
      close(open);
    } else if (token.kind === 'positional' && open !== undefined) {
      close(token.value === '-' ? open : { ...open, next: existing(token.value, open.kind) });
    } else if (token.kind === 'positional') {
      open = { kind: 'tree', path: existing(token.value, 'tree') };
    }
  }
  close(open);
  return sources;
}

function existing(name: string, kind: Source['kind']): string {
  const stats = statSync(name, { throwIfNoEntry: false });
  const fits = kind === 'tree' ? stats?.isDirectory() : stats?.isFile();
  if (fits !== true) throw new UsageError(`${name} is no ${kind === 'tree' ? 'directory' : 'regular file'}`);
  // Tools disagree about a source that is itself a symbolic link.
  return realpathSync(name);
}

async function bench(request: Request, signal: AbortSignal): Promise<boolean> {
  const progress = (line: string): void => {
    process.stderr.write(`${line}\n`);
  };
  const machine = machineLine();
  const versions = versionLines(request.tools);
  for (const line of [machine, ...versions, ...request.missing]) progress(line);
  mkdirSync(request.scratch, { recursive: true });
  const scratch = mkdtempSync(path.join(request.scratch, 'holdfast-bench-'));
  const sources: SourceResult[] = [];
  try {
    const plan: Plan = { ...request, scratch, progress };
    for (const source of request.sources) {
      progress(`== ${path.basename(source.path)}`);
      sources.push(await measureSource(source, plan, signal));
    }
  } finally {
    removeTree(scratch);
  }
  const result = { machine, versions, rounds: request.rounds, sources };
  if (request.json !== undefined) writeFileSync(request.json, json(result));
  if (request.output === undefined) process.stdout.write(markdown(result));
  else writeFileSync(request.output, markdown(result));
  for (const note of sources.flatMap((source) => source.notes)) progress(`note: ${note}`);
  return sources.every(
    (source) => source.runs.length > 0 && !source.notes.some((note) => /failed/.test(note)),
  );
}

async function main(): Promise<void> {
  const abort = new AbortController();
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const)
    process.once(signal, () => {
      abort.abort();
    });
  try {
    process.exitCode = (await bench(understand(process.argv.slice(2)), abort.signal)) ? 0 : 1;
  } catch (error) {
    if (abort.signal.aborted) {
      process.stderr.write('interrupted\n');
      process.exitCode = 130;
    } else if (error instanceof UsageError || (error instanceof TypeError && 'code' in error)) {
      process.stderr.write(`${error.message}\n\n${usage}`);
      process.exitCode = 2;
    } else {
      throw error;
    }
  }
}

if (import.meta.main) await main();
