/** Finds the command that the words of a command line ask for, and runs it. */
import { Command, CommanderError } from 'commander';
import { RequestError } from '../base/errors.ts';
import { nearestName } from '../config/nearest-name.ts';
import { holdfast, programName } from '../base/holdfast-command.ts';
import { splitWords } from './command/command-words.ts';
import { TOPICS, findCommand, type CommandEntry } from './commands.ts';
import { programVersion, toolName } from '../base/program-version.ts';
import type { Context } from './command/context.ts';
import { refuseEmptyWords } from './command/empty-words.ts';
import { EXIT } from './command/exit-codes.ts';
import { createStyles, terminalWidth, wantsColor } from './terminal/terminal.ts';

/** Columns. Longer lines of help are hard to read. */
const WIDEST_HELP = 100;

export async function runProgram(words: readonly string[], context: Context): Promise<void> {
  const { name, before, after } = splitWords(words);
  if (name === 'start' && isCommand(after[0])) {
    // `npm start -- backup …` runs that command.
    await runProgram([...before, ...after], context);
    return;
  }
  if (name === 'help') {
    const [asked] = after;
    // A word that is no command is run without --help, which would hide the mistake.
    await runProgram(isCommand(asked) ? [...after, '--help'] : after.slice(0, 1), context);
    return;
  }
  if (name === undefined && before.some((word) => word === '--version' || word === '-V')) {
    if (before.includes('--json')) await context.out.json(await versionObject());
    else await context.out.line(toolName());
    return;
  }
  if (name === undefined && before.every((word) => word === '--help' || word === '-h')) {
    await context.out.write(overview(context));
    return;
  }
  const entry = findCommand(name ?? '');
  const program = createProgram(context);
  if (entry !== undefined) {
    const module = await entry.load();
    const command = addCommand(program, entry);
    module.define(command, context);
    refuseEmptyWords(command);
  } else {
    for (const topic of TOPICS) for (const command of topic.commands) addCommand(program, command);
  }
  try {
    const all = name === undefined ? before : [name, ...withOptions(after, before)];
    await program.parseAsync(all, { from: 'user' });
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    if (error.code === 'commander.helpDisplayed') return;
    if (error.code === 'commander.help') {
      // A command with subcommands was given none, so its help was shown.
      context.exitCode = EXIT.usage;
      return;
    }
    throw (name === 'start' ? startedWrong(error, after) : undefined) ?? usageError(error, entry);
  }
}

/** The versions in use, for whoever investigates a fault. */
async function versionObject(): Promise<object> {
  const { zstdFacts } = await import('../codec/zstd-choice.ts');
  const { version: node, platform, arch } = process;
  return { type: 'version', version: programVersion(), node, platform, arch, zstd: zstdFacts() };
}

function isCommand(word: string | undefined): boolean {
  return word === 'help' || (word !== undefined && findCommand(word) !== undefined);
}

/** Puts options after the command's own words, but before a `--`. */
function withOptions(words: readonly string[], options: readonly string[]): readonly string[] {
  const end = words.indexOf('--');
  return end === -1 ? [...words, ...options] : [...words.slice(0, end), ...options, ...words.slice(end)];
}

function createProgram(context: Context): Command {
  const { stream } = context.out;
  const color = wantsColor(stream, context.env);
  const { bold } = createStyles(color);
  const width = Math.min(terminalWidth(stream) ?? WIDEST_HELP, WIDEST_HELP);
  return (
    new Command(programName())
      // Options after the name of a command belong to that command, even if it has subcommands.
      .enablePositionalOptions()
      .exitOverride()
      .helpCommand(false)
      .configureOutput({
        writeOut: (text) => stream.write(text),
        writeErr: (text) => context.stderr.write(text),
        outputError: () => {},
        getOutHasColors: () => color,
        getErrHasColors: () => wantsColor(context.stderr, context.env),
        getOutHelpWidth: () => width,
        getErrHelpWidth: () => width,
      })
      .configureHelp({ styleTitle: bold })
  );
}

function addCommand(program: Command, { name, purpose, aliases = [] }: CommandEntry): Command {
  return program
    .command(name)
    .aliases(aliases)
    .description(`${purpose}.`)
    .helpOption('-h, --help', 'Show this help');
}

/** `npm start` passes its words to "start": the first one may be a mistyped command, or a directory. */
function startedWrong({ code }: CommanderError, [word = '']: readonly string[]): RequestError | undefined {
  if (code !== 'commander.excessArguments' || word.startsWith('-')) return undefined;
  const isPlace = /[/\\~.]/.test(word);
  if (isPlace)
    return new RequestError('USAGE', `"start" needs --source before a directory: ${word}`, {
      hint: `To back it up: ${holdfast`start --source ${word}`}`,
    });
  const names = TOPICS.flatMap(({ commands }) => commands.map(({ name }) => name));
  const near = nearestName(word, names);
  return new RequestError('USAGE', `There is no command ${word}`, {
    hint:
      near === undefined
        ? `See all commands with: ${holdfast`help`}`
        : `Did you mean ${near}? See what it does with: ${holdfast`help ${near}`}`,
  });
}

function usageError(error: CommanderError, entry: CommandEntry | undefined): RequestError {
  const [what = '', suggestion = ''] = error.message.replace(/^error: /, '').split('\n');
  const message = `${what.charAt(0).toUpperCase()}${what.slice(1)}`.replace(/\.$/, '');
  const meant = suggestion.replace(/^\((.*)\)$/, '$1');
  const help = entry === undefined ? holdfast`help` : holdfast`help ${entry.name}`;
  const hint = [meant, `For help: ${help}`].filter((text) => text !== '').join(' ');
  return new RequestError('USAGE', message, { hint });
}

function overview(context: Context): string {
  const { bold } = createStyles(wantsColor(context.out.stream, context.env));
  const names = TOPICS.flatMap((topic) => topic.commands.map((command) => command.name.length));
  const width = Math.max(...names);
  const topics = TOPICS.map(({ title, commands }) =>
    [bold(title), ...commands.map(({ name, purpose }) => `  ${name.padEnd(width)}  ${purpose}`)].join('\n'),
  );
  const first = holdfast`start --source ~/Documents`;
  const help = holdfast`help backup`;
  const column = Math.max(first.length, help.length);
  return `Holdfast makes encrypted, verified backups of your files and restores them.

${bold('Usage:')} ${programName()} COMMAND [options]

${topics.join('\n\n')}

${bold('Getting started')}
  ${first.padEnd(column)}    create a repository and back up the directory
  ${help.padEnd(column)}    explain one command

Commands use the repository given by -r DIR or HOLDFAST_REPOSITORY, otherwise the default destination in the settings.
Exit codes: 0 done, 1 failed, 2 wrong usage, 3 done but some files could not be read, 10 no repository,
11 locked, 12 wrong passphrase, 130 interrupted.
`;
}
