/** Explains whether a path is backed up by the sources and rules of the settings: those of the running agent, if there is one. */
import { dirname } from 'node:path';
import { asByteString } from '../../base/byte-path.ts';
import { StateError } from '../../base/errors.ts';
import { holdfast } from '../../base/holdfast-command.ts';
import { treePath } from '../../base/tree-path.ts';
import { resolveTyped } from '../../base/typed-path.ts';
import { kindOf, statPath } from '../../archiver/source/stat.ts';
import { requireAnswer } from '../../archiver/source/sources.ts';
import type { SourceSettings } from '../../config/settings.ts';
import { pathInSource } from '../../daemon/sources/configured-source.ts';
import { whereItLeads } from '../../system/where-it-lies.ts';
import { askAgent } from '../agent/ask-agent.ts';
import { configFile } from '../command/state-directory.ts';
import type { Context } from '../command/context.ts';
import type { OutputOptions, RepositoryOptions } from '../command/options.ts';
import { configuredDirectories, neverBackedUp } from '../places/open.ts';
import { settingsOrDefaults } from '../places/settings-file.ts';
import { printable } from '../terminal/terminal.ts';
import { excludeOfSource, isWithin } from './exclude-options.ts';
import { explainOne } from './explain.ts';

interface Said {
  readonly excluded: boolean;
  readonly rule: string | null;
  readonly source: string | null;
  readonly sentence: string;
}

export async function explainBySettings(
  paths: readonly string[],
  options: RepositoryOptions & OutputOptions,
  context: Context,
): Promise<void> {
  const { sources } = await settingsOrDefaults(await fileOfAgent(context), context);
  const never = [...(await neverBackedUp(options, context)), ...(await configuredDirectories(context))];
  for (const path of paths) {
    const written = resolveTyped(path);
    await requireAnswer(
      sources.filter((one) => pathInSource(one.path, written) !== undefined).map((one) => one.path),
      '/',
      context.signal,
    );
    const slash = path.endsWith('/') ? '/' : '';
    const said = sources.flatMap((source) => inSource(source, written, slash) ?? []);
    // One source that takes it in is enough.
    const answer = said.find(({ excluded }) => !excluded) ?? said[0] ?? inNone(written, sources);
    if (options.json === true) await context.out.json({ type: 'explanation', path: written, ...answer });
    else await context.out.line(printable(answer.sentence));
  }

  function inSource(source: SourceSettings, written: string, slash: string): Said | undefined {
    const named = pathInSource(source.path, written);
    if (named === undefined) return undefined;
    const root = treePath(whereItLeads(source.path));
    const asked = `${root}${treePath(named).slice(treePath(source.path).length)}${slash}`;
    const exclude = excludeOfSource(source, never);
    const { excluded, sentence, decision } = explainOne(asByteString(asked), root, [root], exclude, context);
    const rule = 'rule' in decision ? decision.rule : null;
    const where = excluded ? '' : ` It is in the source ${source.path}.`;
    return { excluded, rule, source: source.path, sentence: `${sentence}${where}` };
  }
}

function inNone(path: string, sources: readonly SourceSettings[]): Said {
  const below = sources.find((source) => isWithin(source.path, path));
  if (below !== undefined)
    return {
      excluded: false,
      rule: null,
      source: below.path,
      sentence: `${path} is backed up only as far as it leads to the source ${below.path}: it is in no protected folder itself.`,
    };
  const stat = statPath(treePath(path));
  const folder = stat !== undefined && kindOf(stat) === 'directory' ? path : dirname(path);
  return {
    excluded: true,
    rule: 'no-source',
    source: null,
    sentence: `${path} is not backed up: it is in no protected folder. To protect it, run: ${holdfast`sources add ${folder}`}`,
  };
}

/** The settings file that the running agent uses. Undefined for the usual one, and when no agent is running. */
async function fileOfAgent(context: Context): Promise<string | undefined> {
  try {
    const { file } = (await askAgent(context, 'status', {})).config;
    return file === configFile(undefined, context.env) ? undefined : file;
  } catch (error) {
    if (error instanceof StateError) return undefined;
    throw error;
  }
}
