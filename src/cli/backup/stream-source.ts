/** Standard input, or the output of a command, as the source of a backup. */
import { holdfast } from '../../base/holdfast-command.ts';
import { commandOutput } from '../../archiver/command-output.ts';
import type { StreamInput } from '../../archiver/stream.ts';
import { type ByteString, pathNames, pathOf } from '../../base/byte-path.ts';
import { workingDirectory } from '../../base/typed-path.ts';
import { treePath } from '../../base/tree-path.ts';
import type { Context } from '../command/context.ts';
import { usage } from '../command/options.ts';
import { requireContent, standardInput } from '../terminal/standard-streams.ts';

export interface StreamOptions {
  readonly stdinName?: string;
  /** True when the command follows as arguments. */
  readonly stdinCommand?: string | true;
}

export interface StreamSource {
  /** The path of the content in the snapshot. */
  readonly path: ByteString;
  /** Begins to read. To be called once, when the repository is open. An abort of the signal ends the input. */
  readonly read: StreamInput;
}

/**
 * The stream that the options ask for; undefined when files are to be saved.
 * @throws {RequestError}
 */
export function streamSource(
  options: StreamOptions,
  words: readonly string[],
  context: Context,
): StreamSource | undefined {
  const { stdinName, stdinCommand } = options;
  if (stdinName === undefined && stdinCommand === undefined) return undefined;
  const path = pathOf(pathNames(treePath(stdinName ?? '')));
  if (path === '/')
    throw usage(
      'The backup of standard input needs a file name',
      'Give it one with --stdin-name, such as --stdin-name db.sql.',
    );
  if (stdinCommand !== undefined) {
    const [program, ...parameters] = commandLine(stdinCommand, words);
    // The command runs in it, and may name files in it.
    workingDirectory();
    return { path, read: (signal) => commandOutput([program, ...parameters], signal) };
  }
  if (words.length > 0)
    throw usage('Files and standard input cannot be backed up in one run', 'Run the command twice.');
  requireContent(context.stdin, `mysqldump shop | ${holdfast`backup …`}`);
  return { path, read: (signal) => standardInput(context.stdin, signal) };
}

/** One text is for the shell; several words are the program and its arguments. */
function commandLine(command: string | true, words: readonly string[]): readonly [string, ...string[]] {
  const [program, ...parameters] = command === true ? words : [command, ...words];
  if (program === undefined)
    throw usage('The command is missing', 'Put it at the end: --stdin-command -- mysqldump shop');
  return command === true || parameters.length > 0 ? [program, ...parameters] : ['/bin/sh', '-c', program];
}
