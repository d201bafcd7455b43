/** holdfast(1), and a page for each command, from the definitions that `--help` shows. */
import type { Command } from 'commander';
import type { CommandEntry, Topic } from '../../src/cli/commands.ts';
import { builtCommands, programOfBuilder } from './built.ts';
import { commandTree } from './command-tree.ts';
import { bold, heading, italic, item, literal, page, paragraph, plain, subheading, title } from './roff.ts';

export interface Edition {
  readonly version: string;
  /** As 2026-01-31. */
  readonly date: string;
}

/** File name -> text. */
export type Pages = Readonly<Record<string, string>>;

const MANUAL = 'User Commands';

export async function commandPages(edition: Edition): Promise<Pages> {
  const { TOPICS } = await builtCommands();
  const tree = await commandTree(TOPICS);
  const pages: Record<string, string> = { 'holdfast.1': overview(TOPICS, edition) };
  for (const [entry, command] of tree) {
    for (const name of [entry.name, ...(entry.aliases ?? [])])
      pages[`holdfast-${name}.1`] = commandPage(entry, command, edition);
  }
  const here = plain(await programOfBuilder());
  return Object.fromEntries(
    Object.entries(pages).map(([name, text]) => [name, text.replaceAll(here, 'holdfast')]),
  );
}

function overview(topics: readonly Topic[], { version, date }: Edition): string {
  return page([
    title('holdfast', 1, date, version, MANUAL),
    heading('Name'),
    String.raw`holdfast \- background backup agent: encrypted, deduplicated, verified`,
    heading('Synopsis'),
    `${bold('holdfast')} ${italic('command')} [${italic('options')}]`,
    heading('Description'),
    plain(
      'Keeps encrypted, deduplicated backups of directories, watches them for changes, and makes sure that everything stored can be restored.',
    ),
    paragraph(
      `${bold('holdfast ui')} opens its page in the browser, and ${bold('holdfast status')} says whether you are protected. Where the service of the machine is installed, root's commands mean that one: ${bold('sudo holdfast status')}.`,
    ),
    heading('Commands'),
    ...topics.flatMap(({ title: topic, commands }) => [
      subheading(topic),
      ...commands.map(({ name, purpose }) => item(`${bold(`holdfast-${name}`)}(1)`, plain(`${purpose}.`))),
    ]),
    heading('Environment'),
    item(bold('HOLDFAST_STATE_DIR'), plain('Where settings, keys and the first repository are.')),
    item(bold('HOLDFAST_CONFIG'), plain('Another file of settings.')),
    item(bold('HOLDFAST_REPOSITORY'), plain('The repository that commands use without --repository.')),
    item(
      `${bold('HOLDFAST_PASSWORD_FILE')}, ${bold('HOLDFAST_PASSWORD_COMMAND')}`,
      plain('What gives the passphrase where nobody can type it.'),
    ),
    heading('Files'),
    item(
      italic('~/.local/state/holdfast'),
      plain('Your state: settings, keys, the first repository, and the recovery kit.'),
    ),
    item(italic('/etc/holdfast/config.json'), plain('The settings of the service of the machine.')),
    item(italic('/var/lib/holdfast'), plain('Its state.')),
    heading('Exit status'),
    ...EXITS.map(([code, meaning]) => item(bold(code), plain(meaning))),
    heading('See also'),
    `${bold('holdfast-config')}(5)`,
  ]);
}

const EXITS = [
  ['0', 'Done.'],
  ['1', 'Failed.'],
  ['2', 'Wrong usage.'],
  ['3', 'Done, but some files could not be read.'],
  ['10', 'There is no repository.'],
  ['11', 'The repository is locked.'],
  ['12', 'Wrong passphrase.'],
  ['129', 'The terminal was closed.'],
  ['130', 'Interrupted.'],
] as const;

function commandPage(entry: CommandEntry, command: Command, { version, date }: Edition): string {
  const words = `holdfast ${entry.name}`;
  const below = command.commands;
  return page([
    title(`holdfast-${entry.name}`, 1, date, version, MANUAL),
    heading('Name'),
    String.raw`${plain(`holdfast-${entry.name}`)} \- ${plain(entry.purpose)}`,
    heading('Synopsis'),
    synopsis(words, command),
    heading('Description'),
    plain(`${entry.purpose}.`),
    ...remarks(command),
    ...takes(command, heading),
    ...below.flatMap((one) => [
      heading(`${words} ${one.name()}`),
      synopsis(`${words} ${one.name()}`, one),
      paragraph(plain(one.description())),
      ...remarks(one),
      ...takes(one, subheading),
      ...examples(one, subheading),
    ]),
    ...examples(command, heading),
    heading('See also'),
    `${bold('holdfast')}(1), ${bold('holdfast-config')}(5)`,
  ]);
}

function synopsis(words: string, command: Command): string {
  if (command.commands.length > 0) return `${bold(words)} ${italic('command')} [${italic('options')}]`;
  const taken = command.registeredArguments.map((argument) => {
    const name = `${italic(argument.name())}${argument.variadic ? ' ...' : ''}`;
    return argument.required ? name : `[${name}]`;
  });
  return [bold(words), `[${italic('options')}]`, ...taken].join(' ');
}

function takes(command: Command, head: (text: string) => string): readonly string[] {
  const help = command.createHelp();
  const described = help
    .visibleArguments(command)
    .map((argument) => [help.argumentTerm(argument), argument.description] as const)
    .filter(([, description]) => description !== '');
  const options = help.visibleOptions(command);
  return [
    ...(described.length === 0 ? [] : [head('Arguments')]),
    ...described.map(([term, description]) => item(italic(term), plain(description))),
    ...(options.length === 0 ? [] : [head('Options')]),
    ...options.map((option) => item(bold(option.flags), plain(help.optionDescription(option)))),
  ];
}

/** What `--help` says below the options: remarks, and examples as they are typed. */
function afterOptions(command: Command): readonly [remarks: string, examples: string] {
  let text = '';
  command.configureOutput({ writeOut: (more) => (text += more) });
  command.outputHelp();
  const help = command.createHelp().formatHelp(command, command.createHelp());
  const [before = '', after = ''] = text.slice(text.indexOf(help) + help.length).split(/^Examples:$/m);
  return [before.trim(), after.replaceAll(/^ {2}/gm, '').trim()];
}

function remarks(command: Command): readonly string[] {
  const [text] = afterOptions(command);
  if (text === '') return [];
  // The lines of `--help` are as wide as a terminal, and narrower pages would break each of them twice.
  return text.split(/\n{2,}/).map((part) => paragraph(plain(part.replaceAll('\n', ' '))));
}

function examples(command: Command, head: (text: string) => string): readonly string[] {
  const [, text] = afterOptions(command);
  return text === '' ? [] : [head('Examples'), literal(text.split('\n'))];
}
