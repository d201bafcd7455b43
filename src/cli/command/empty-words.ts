/**
 * Words that no command takes: empty ones, and those that are no text where text is meant.
 *
 * A variable of a shell that is not set leaves an empty word. Completed as a path it would be the working directory, as
 * the name of a repository the default one, and as a filter everything: no command takes one where it means nothing.
 */
import type { Command } from 'commander';
import type { RequestError } from '../../base/errors.ts';
import { usage } from './options.ts';

/** Where it means something: options and arguments behind the name of their command. */
const MEANT: ReadonlySet<string> = new Set(['tag --set', 'config set <value>']);

/** Where names of files are meant, which are bytes (base/typed-path.ts): these options, and the arguments of these commands. */
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
 * Has the command and those below it refuse empty words, before anything else is done with them.
 * @param name of the command, with those above it
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
  // They are the words of another program, which may mean something by an empty one.
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
    `What was given for ${where} is not text in UTF-8`,
    'Where files are saved, looked for and restored their names may be in other bytes, and here not: name a directory above it, or a symbolic link to it whose path is such text.',
  );
}

function emptyWord(where: string): RequestError {
  return usage(
    `What was given for ${where} is empty`,
    'Check the variable of the script that it comes from.',
  );
}
