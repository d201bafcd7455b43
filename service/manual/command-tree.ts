/** Every command with all it takes, as `--help` shows it: what manual pages and docs/command-line.md are made from. */
import { Command } from 'commander';
import type { Context } from '../../src/cli/command/context.ts';
import type { CommandEntry, Topic } from '../../src/cli/commands.ts';

/** Nothing of it is used while commands are defined. */
const NO_CONTEXT = {} as Context;

export async function commandTree(
  topics: readonly Topic[],
): Promise<readonly (readonly [CommandEntry, Command])[]> {
  const all: [CommandEntry, Command][] = [];
  for (const entry of topics.flatMap(({ commands }) => commands)) {
    const command = new Command(entry.name).helpOption('-h, --help', 'Show this help');
    (await entry.load()).define(command, NO_CONTEXT);
    all.push([entry, command]);
  }
  return all;
}
