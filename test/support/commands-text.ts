/**
 * The part of docs/command-line.md that says of every command what it takes, made from the commands themselves:
 * `node test/support/commands-text.ts` prints it.
 */
import { fileURLToPath } from 'node:url';
import type { Command } from 'commander';
import { commandTree as treeOf } from '../../service/manual/command-tree.ts';
import { callProgram } from '../../src/base/holdfast-command.ts';
import { TOPICS, type CommandEntry } from '../../src/cli/commands.ts';

/** Options that mean the same in every command, by their long names; told once, and named only after that. */
const SHARED = ['--repository', '--password-file', '--password-command', '--json', '--quiet', '--help'];

export async function commandTree(): Promise<readonly (readonly [CommandEntry, Command])[]> {
  return await treeOf(TOPICS);
}

/** Markdown. */
export async function commandsText(): Promise<string> {
  callProgram('holdfast');
  const tree = await commandTree();
  const parts: string[] = [];
  for (const { title, commands } of TOPICS) {
    parts.push(`### ${title}`);
    for (const entry of commands) {
      const found = tree.find(([{ name }]) => name === entry.name)?.[1];
      if (found !== undefined)
        parts.push(...commandParts(`holdfast ${entry.name}`, `${entry.purpose}.`, found, entry.aliases));
    }
  }
  return parts.join('\n\n');
}

function commandParts(
  words: string,
  purpose: string,
  command: Command,
  aliases: readonly string[] = [],
): readonly string[] {
  const also = aliases.length === 0 ? '' : ` Also called ${aliases.map((name) => `\`${name}\``).join(', ')}.`;
  const help = command.createHelp();
  const options = help.visibleOptions(command);
  const own = options.filter(({ long }) => !SHARED.includes(long ?? ''));
  const shared = options
    .map(({ long }) => long ?? '')
    .filter((long) => long !== '--help' && SHARED.includes(long))
    .map((long) => `\`${long}\``);
  const takes = help
    .visibleArguments(command)
    .map((argument) => [help.argumentTerm(argument), argument.description] as const)
    .filter(([, description]) => description !== '');
  const rows = [
    ...takes.map(([term, description]) => `| ${cell(`<${term}>`)} | ${description} |`),
    ...own.map((option) => `| ${cell(option.flags)} | ${escaped(help.optionDescription(option))} |`),
  ];
  return [
    `**\`${[words, usageOf(command)].join(' ').trim()}\`** ${purpose}${also}${
      shared.length === 0 ? '' : ` Takes ${shared.join(', ')}.`
    }`,
    ...(rows.length === 0 ? [] : [['| | |', '|---|---|', ...rows].join('\n')]),
    ...command.commands.flatMap((below) =>
      commandParts(`${words} ${below.name()}`, below.description(), below),
    ),
  ];
}

function usageOf(command: Command): string {
  if (command.commands.length > 0) return 'COMMAND';
  return command.registeredArguments
    .map((argument) => {
      const name = argument.variadic ? `${argument.name()}...` : argument.name();
      return argument.required ? `<${name}>` : `[${name}]`;
    })
    .join(' ');
}

function cell(term: string): string {
  return `\`${term.replaceAll('|', String.raw`\|`)}\``;
}

function escaped(text: string): string {
  return text.replaceAll('|', String.raw`\|`);
}

if (process.argv[1] === fileURLToPath(import.meta.url)) process.stdout.write(`${await commandsText()}\n`);
