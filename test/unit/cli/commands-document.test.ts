import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import type { Command } from 'commander';
import { describe, expect, test } from 'vitest';
import { commandTree, commandsText } from '../../support/commands-text.ts';

const root = path.resolve(import.meta.dirname, '..', '..', '..');
const file = path.join(root, 'docs', 'command-line.md');
const document = readFileSync(file, 'utf8');
/** With it the document is written anew in place of being compared. */
const REWRITES = process.env['HOLDFAST_WRITE_GUIDE'] === '1';
const tree = await commandTree();

function everyCommand(command: Command): readonly Command[] {
  return [command, ...command.commands.flatMap(everyCommand)];
}

describe('docs/command-line.md', () => {
  test('has every command with all it takes, and no other', async () => {
    const [general, commands] = document.split('## Commands\n\n');
    if (REWRITES) writeFileSync(file, `${general}## Commands\n\n${await commandsText()}\n`);
    else expect(commands?.trim()).toBe(await commandsText());
  });

  test('explains the options that many commands take', () => {
    const [general = ''] = document.split('## Commands\n\n');
    const shared = ['--repository', '--password-file', '--password-command', '--json', '--quiet', '--help'];
    for (const name of shared) expect(general).toContain(name);
  });
});

describe('every command', () => {
  test.each(tree.map(([{ name }, command]) => [name, command] as const))(
    '%s says what its options mean',
    (_name, command) => {
      for (const one of everyCommand(command)) {
        for (const { flags, description } of one.options) expect([flags, description]).not.toContain('');
        if (one.commands.length > 0) for (const below of one.commands) expect(below.summary()).not.toBe('');
      }
    },
  );

  test('gives JSON, but for those whose output is for other programs as it is', () => {
    const without = tree.flatMap(([, command]) =>
      everyCommand(command)
        .filter((one) => one.commands.length === 0 && one.options.every(({ long }) => long !== '--json'))
        .map((one) => (one === command ? one.name() : `${command.name()} ${one.name()}`)),
    );
    expect(without.sort()).toEqual(['cat', 'completion', 'config schema', 'tar']);
  });
});
