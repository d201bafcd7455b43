import { existsSync } from 'node:fs';
import type { Command } from 'commander';
import { holdfast } from '../../base/holdfast-command.ts';
import type { NeverPath } from '../../exclude/excluder.ts';
import { pathText, treePath } from '../../base/tree-path.ts';
import { realPath } from '../../base/typed-path.ts';
import type { Context } from '../command/context.ts';
import { addExamples, addOutputOptions, collect, usage, type OutputOptions } from '../command/options.ts';
import { runAgent } from './run-agent.ts';
import { requireAnswer, resolveSources } from '../../archiver/source/sources.ts';
import { statePaths, type StatePaths } from '../command/state-directory.ts';

interface StartOptions extends OutputOptions {
  readonly source?: readonly string[];
  readonly destination?: string;
  readonly once?: boolean;
  readonly port?: string;
  readonly config?: string;
}

export function define(command: Command, context: Context): void {
  command
    .optionsGroup('What to back up:')
    .option('-s, --source <dir>', 'Back up this directory now, and keep watching it (repeatable)', collect)
    .option(
      '-d, --destination <name>',
      'Where to: the name of a configured destination, or a directory or URL, which contains a slash',
    )
    .option('--once', 'Back up once and exit, without an agent')
    .optionsGroup('The agent:')
    .option('--port <n>', 'Listen on this port of 127.0.0.1 and ::1 (7390)')
    .option('--config <file>', 'Use this file instead of config.json in the state directory');
  addOutputOptions(command, {
    json: 'Progress and result as JSON, one object on each line',
    quiet: 'Print errors only',
  });
  command.addHelpText(
    'after',
    `
Runs in the foreground until you stop it. The first start creates an encrypted repository in your state
directory (set HOLDFAST_STATE_DIR for another place), and a recovery kit that opens it.`,
  );
  addExamples(command, [[holdfast`start --source ~/Documents`, 'back up a directory now']]);
  command.action(async (options: StartOptions) => {
    if (options.once === true) {
      const { startOnce } = await import('./once.ts');
      await startOnce(options, context);
    } else await startAgent(options, context);
  });
}

async function startAgent(options: StartOptions, context: Context): Promise<void> {
  const port = options.port === undefined ? undefined : Number(options.port);
  if (port !== undefined && !(Number.isInteger(port) && port >= 0 && port <= 65_535))
    throw usage(`"${options.port}" is not a port`, 'Use a number from 1 to 65535, or 0 for any free port.');
  await requireAnswer(options.source ?? [], undefined, context.signal);
  const { paths } = resolveSources(
    (options.source ?? []).map((name) => `${name}/`),
    undefined,
    ownPlaces(statePaths(context.env)),
  );
  await runAgent(
    {
      json: options.json ?? false,
      quiet: options.quiet ?? false,
      port,
      config: options.config,
      sources: paths.map((path) => pathText(path)),
      destination: options.destination,
    },
    context,
  );
}

/**
 * The state directory, which also holds the embedded repository. Avoids the modules that open repositories, for which
 * the agent has no other use.
 */
function ownPlaces({ directory }: StatePaths): readonly NeverPath[] {
  if (!existsSync(directory)) return [];
  return [{ path: treePath(realPath(directory)), reason: "Holdfast's own state directory" }];
}
