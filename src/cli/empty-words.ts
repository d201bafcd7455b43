/**
 * A variable of a shell that is not set leaves an empty word. Completed as a path it would be the working directory, as
 * the name of a repository the default one, and as a filter everything: no command takes one where it means nothing.
 */
import type { Command } from 'commander';
import type { RequestError } from '../base/errors.ts';
import { usage } from './options.ts';

/** Where it means something: options and arguments behind the name of their command. */
const MEANT: ReadonlySet<string> = new Set(['tag --set', 'config set <value>']);

/**
 * Has the command and those below it refuse empty words, before anything else is done with them.
 * @param name of the command, with those above it
 */
export function refuseEmptyWords(command: Command, name = command.name()): void {
  for (const option of command.options) {
    const { long, parseArg: parse, required, optional } = option;
    const takesWord = required || optional;
    if (!takesWord || long === undefined || MEANT.has(`${name} ${long}`)) continue;
    option.argParser<unknown>((value, previous) => {
      if (value === '') throw emptyWord(long);
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
  const terms = command.registeredArguments.map((argument) => `<${argument.name()}>`);
  for (const [at, word] of command.args.entries()) {
    const term = terms[at] ?? terms.at(-1) ?? '';
    if (word === '' && !MEANT.has(`${name} ${term}`)) throw emptyWord(term);
  }
}

function emptyWord(where: string): RequestError {
  return usage(
    `What was given for ${where} is empty`,
    'Check the variable of the script that it comes from.',
  );
}
