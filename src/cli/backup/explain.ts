import { lstatSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import type { Command } from 'commander';
import { holdfast } from '../../base/holdfast-command.ts';
import { explainExclusion, type SourceTree } from '../../exclude/explain.ts';
import { createExcluder, type ExcludeOptions } from '../../exclude/excluder.ts';
import { readRuleFile } from '../../archiver/walk/rule-files.ts';
import { kindOf, openDirectory, statPath } from '../../archiver/source/stat.ts';
import { asByteString, type ByteString } from '../../base/byte-path.ts';
import { exactPathText, treePath } from '../../base/tree-path.ts';
import { filePath, resolveTyped } from '../../base/typed-path.ts';
import { errnoOf } from '../../base/errors.ts';
import { isMountPoint } from '../../system/mount-table.ts';
import type { Context } from '../command/context.ts';
import {
  addExcludeOptions,
  excludeOptions,
  type GivenExcludes,
  type GivenPattern,
  isWithin,
  readPatterns,
  saysWhatIsLeftOut,
} from './exclude-options.ts';
import { neverBackedUp } from '../places/open.ts';
import {
  addExamples,
  addOutputOptions,
  addRepositoryOptions,
  collect,
  type OutputOptions,
  type RepositoryOptions,
} from '../command/options.ts';
import { printable } from '../terminal/terminal.ts';
import { requireAnswer, resolveSources } from '../../archiver/source/sources.ts';
import type { EntryStat } from '../../system/entry-stat.ts';

interface ExplainOptions extends RepositoryOptions, OutputOptions, GivenExcludes {
  readonly source?: readonly string[];
}

export function define(command: Command, context: Context): void {
  command
    .argument('<path...>', 'the paths in question; they need not exist')
    .optionsGroup('The backup:')
    .option(
      '--source <dir>',
      'What would be backed up (repeatable); without rules and sources here, those of the settings count',
      collect,
    );
  const patterns = addExcludeOptions(command);
  addRepositoryOptions(command);
  addOutputOptions(command, { json: 'One JSON object for each path' });
  addExamples(command, [
    [holdfast`explain ~/Documents/plan.odt`, 'is it backed up, by the settings?'],
    [holdfast`explain --source ~ --exclude "*.o" ~/src/main.o`, 'with the options of the backup'],
  ]);
  command.action(async (paths: readonly string[], options: ExplainOptions) => {
    await explain(paths, patterns, options, context);
  });
}

async function explain(
  paths: readonly string[],
  rules: readonly GivenPattern[],
  options: ExplainOptions,
  context: Context,
): Promise<void> {
  if (options.source === undefined && !saysWhatIsLeftOut(options, rules)) {
    const { explainBySettings } = await import('./explain-settings.ts');
    await explainBySettings(paths, options, context);
    return;
  }
  const never = await neverBackedUp(options, context);
  const exclude = excludeOptions(options, await readPatterns(rules, context.signal), never);
  for (const path of paths) {
    const written = resolveTyped(path);
    const given = options.source ?? [parentDirectory(written)];
    await requireAnswer(given, undefined, context.signal);
    const sources = resolveSources(given, undefined, []).places.map((real, at) => ({
      named: resolveTyped(given[at] ?? ''),
      real: exactPathText(real),
    }));
    const asked = askedOf(written, sources);
    if (asked === undefined) continue;
    const slash = path.endsWith('/') ? '/' : '';
    const { excluded, sentence, decision } = explainOne(
      asByteString(`${treePath(asked.path)}${slash}`),
      treePath(asked.root),
      sources.map(({ real }) => treePath(real)),
      exclude,
      context,
    );
    if (options.json === true) {
      const rule = 'rule' in decision ? decision.rule : null;
      await context.out.json({ type: 'explanation', path: written, excluded, rule, sentence });
    } else await context.out.line(printable(sentence));
  }
}

export function explainOne(
  path: ByteString,
  root: ByteString,
  sources: readonly ByteString[],
  exclude: ExcludeOptions,
  { stderr }: Context,
) {
  const stat = statPath(root);
  const kind = stat === undefined ? 'directory' : plainKind(stat);
  const excluder = createExcluder(
    exclude,
    { root, kind, device: Number(stat?.dev ?? 0n) },
    {
      read: readRuleFile,
      onError: (error) => stderr.write(`Warning: ${printable(error.message)}\n`),
    },
  );
  return explainExclusion(excluder, path, PRESENT_TREE, sources);
}

const PRESENT_TREE: SourceTree = {
  list(directory) {
    const listed = openDirectory(directory);
    try {
      return listed.names;
    } finally {
      listed.close();
    }
  },
  stat(path) {
    const stat = statPath(path);
    return stat && { kind: plainKind(stat), size: stat.size, device: Number(stat.dev) };
  },
  isClosed(path) {
    if (!isMountPoint(path)) return false;
    try {
      statPath(path);
      return false;
    } catch (error) {
      if (errnoOf(error) === undefined) throw error;
      return true;
    }
  },
};

function plainKind(stat: EntryStat): 'file' | 'directory' | 'other' {
  const kind = kindOf(stat);
  return kind === 'file' || kind === 'directory' ? kind : 'other';
}

function parentDirectory(path: string): string {
  let directory = resolve(path, '..');
  while (dirname(directory) !== directory && !isKnownDirectory(directory)) directory = dirname(directory);
  return directory;
}

function isKnownDirectory(path: string): boolean {
  try {
    return lstatSync(filePath(path)).isDirectory();
  } catch (error) {
    if (errnoOf(error) === undefined) throw error;
    return false;
  }
}

interface NamedSource {
  readonly named: string;
  /** Its path with all symbolic links resolved. */
  readonly real: string;
}

/** The path as the backup sees it, and the innermost source that contains it, whose rules apply. */
function askedOf(
  written: string,
  sources: readonly NamedSource[],
): { readonly path: string; readonly root: string } | undefined {
  const paths = sources.map(({ named, real }) =>
    isWithin(written, named) ? join(real, relative(named, written)) : written,
  );
  const roots = sources.map(({ real }) => real).toSorted((a, b) => b.length - a.length);
  for (const root of roots) for (const path of paths) if (isWithin(path, root)) return { path, root };
  const [path = written] = paths;
  const [root] = roots;
  return root === undefined ? undefined : { path, root };
}
