import { localTime } from '../../base/units.ts';
import { readFile } from 'node:fs/promises';
import type { Command } from 'commander';
import { StateError, errnoOf } from '../../base/errors.ts';
import { holdfast } from '../../base/holdfast-command.ts';
import { agentLogPath } from '../../daemon/state/agent-log-end.ts';
import type { Context } from '../command/context.ts';
import { forMachineService } from '../install/installed.ts';
import { addExamples, addOutputOptions, usage, type OutputOptions } from '../command/options.ts';
import { statePaths } from '../command/state-directory.ts';
import { printable } from '../terminal/terminal.ts';

interface LogsOptions extends OutputOptions {
  readonly lines?: string;
}

/** The numbers that pino gives to levels. */
const LEVELS: Readonly<Record<number, string>> = {
  20: 'debug',
  30: 'info',
  40: 'warning',
  50: 'error',
  60: 'fatal',
};

export function define(command: Command, context: Context): void {
  command.option('-n, --lines <n>', 'How many of the last lines to show (50)');
  addOutputOptions(command, { json: 'The lines as stored' });
  addExamples(command, [[holdfast`logs -n 200`, 'see what happened recently']]);
  command.action(async (options: LogsOptions) => {
    const wanted = Number(options.lines ?? '50');
    if (!Number.isInteger(wanted) || wanted < 1)
      throw usage(`"${options.lines}" is not a number of lines`, 'Use 1 or more.');
    for (const line of (await readLog(context)).slice(-wanted)) {
      await context.out.line(options.json === true ? line : readable(line));
    }
  });
}

async function readLog({ env }: Context): Promise<readonly string[]> {
  const path = agentLogPath(statePaths(env).directory);
  try {
    return (await readFile(path, 'utf8')).split('\n').filter((line) => line !== '');
  } catch (cause) {
    if (errnoOf(cause) !== 'ENOENT') throw cause;
    const elsewhere = await forMachineService(['logs'], env);
    throw new StateError('NO_LOG', 'The agent has not written a log yet', {
      hint:
        elsewhere === undefined
          ? `Start it with: ${holdfast`start`}`
          : `The service of this machine has a log of its own: ${elsewhere}`,
      cause,
    });
  }
}

function readable(line: string): string {
  let entry: Readonly<Record<string, unknown>>;
  try {
    entry = JSON.parse(line) as Readonly<Record<string, unknown>>;
  } catch {
    // The last line of a process that was killed while writing it.
    return printable(line);
  }
  const { time, level, msg, err, ...rest } = entry;
  const said = String(msg);
  const why = typeof err === 'object' && err !== null && 'message' in err ? String(err.message) : '';
  const text = why.startsWith(said) ? why : `${said}${why === '' ? '' : `: ${why}`}`;
  const facts = Object.keys(rest).length === 0 ? '' : `  ${JSON.stringify(rest)}`;
  return printable(
    `${localTime(Date.parse(String(time)))}  ${LEVELS[Number(level)] ?? String(level)}  ${text}${facts}`,
  );
}
