/**
 * Refuses words that no command takes: empty ones, and those that are not text where text is meant.
 *
 * A shell variable that is not set leaves an empty word. As a path it would mean the working directory, as a repository
 * the default one, and as a filter everything.
 */
import type { Command } from 'commander';
import type { RequestError } from '../../base/errors.ts';
import { usage } from './options.ts';

/** Options and arguments, after the name of their command, for which an empty word has a meaning. */
const MEANT: ReadonlySet<string> = new Set(['tag --set', 'config set <value>']);

/** Options that take file names, which may be any bytes (base/typed-path.ts); BYTE_COMMANDS are commands whose arguments do. */
const BYTES: ReadonlySet<string> = new Set([
  '--exclude',
  '--iexclude',
  '--exclude-file',
  '--exclude-if-present',
  '--from-password-command',
  '--from-password-file',
  '--ignore-file',
  '--include',
  '--like-password-command',
  '--like-password-file',
  '--new-password-command',
  '--new-password-file',
  '--password-command',
  '--password-file',
  '--path',
  '--stdin-command',
  '--stdin-name',
  '--target',
]);
const BYTE_COMMANDS: ReadonlySet<string> = new Set([
  'backup',
  'cat',
  'diff',
  'explain',
  'find',
  'ls',
  'restore',
  'tar',
  'versions',
]);

/**
 * Makes a command and its subcommands refuse empty words before anything else is done with them.
 * @param name of the command, preceded by the names of its parent commands
 */
export function refuseEmptyWords(command: Command, name = command.name()): void {
  for (const option of command.options) {
    const { long, parseArg: parse, required, optional } = option;
    const takesWord = required || optional;
    if (!takesWord || long === undefined) continue;
    const isMeant = MEANT.has(`${name} ${long}`);
    option.argParser<unknown>((value, previous) => {
      if (value === '' && !isMeant) throw emptyWord(long);
      if (!BYTES.has(long)) requireText(value, long);
      return parse === undefined ? value : parse(value, previous);
    });
  }
  command.hook('preAction', (_command, acting) => {
    if (acting === command) refuseEmptyArguments(command, name);
  });
  for (const below of command.commands) refuseEmptyWords(below, `${name} ${below.name()}`);
}

function refuseEmptyArguments(command: Command, name: string): void {
  // These are the words of another program, to which an empty one may mean something.
  if (command.getOptionValue('stdinCommand') !== undefined) return;
  if (!BYTE_COMMANDS.has(name)) for (const word of command.args) requireText(word, name);
  const terms = command.registeredArguments.map((argument) => `<${argument.name()}>`);
  for (const [at, word] of command.args.entries()) {
    const term = terms[at] ?? terms.at(-1) ?? '';
    if (word === '' && !MEANT.has(`${name} ${term}`)) throw emptyWord(term);
  }
}

function requireText(word: string, where: string): void {
  if (word.isWellFormed()) return;
  throw usage(
    `The value of ${where} is not valid UTF-8`,
    'File names that are not UTF-8 can be backed up, found and restored, but not used here. Name a directory above it, or a symbolic link to it with a UTF-8 name.',
  );
}

function emptyWord(where: string): RequestError {
  return usage(
    `The value of ${where} is empty`,
    'If it comes from a variable in a script, check that the variable is set.',
  );
}
