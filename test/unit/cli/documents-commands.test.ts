/** Every command that a document tells people to run is there, with the options that it is given. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Command } from 'commander';
import { expect, test } from 'vitest';
import { commandTree } from '../../support/commands-text.ts';
import { namesBelow } from '../../support/names-below.ts';

const root = join(import.meta.dirname, '..', '..', '..');
const docs = namesBelow(join(root, 'docs')).filter((name) => name.endsWith('.md'));
const documents = ['README.md', ...docs.map((name) => join('docs', name))];
const tree = await commandTree();

/** Of the program itself: these may stand before or behind each command. */
const GENERAL = ['-h', '--help', '-V', '--version', '-r', '--repository'];

/** What is said to be run: in code blocks of the shell, and between backquotes. */
function commandsIn(markdown: string): readonly string[] {
  const blocks = [...markdown.matchAll(/^```sh\n([\s\S]*?)^```$/gm)].flatMap(([, text = '']) =>
    text.split('\n'),
  );
  const spans = [...markdown.replaceAll(/^```[\s\S]*?^```$/gm, '').matchAll(/`([^`\n]+)`/g)];
  const lines = [...blocks, ...spans.map(([, text = '']) => text)].flatMap((line) =>
    line
      .replace(/\s#\s.*$/, '')
      .replaceAll(/"[^"]*"/g, '""')
      .split(/&&|\|\||[|;()]/),
  );
  return lines.map((line) => line.trim()).filter((line) => /^(?:sudo )?holdfast [a-z]/.test(line));
}

/** Undefined when it fits. */
function misfit(line: string): string | undefined {
  const [name = '', ...words] = line.replace(/^(?:sudo )?holdfast /, '').split(/\s+/);
  if (name === 'help')
    return words.every((word) => find(word) !== undefined || /^[A-Z]/.test(word)) ? undefined : line;
  let command = find(name);
  if (command === undefined) return `${line}: no such command`;
  for (const word of words) {
    const below: Command | undefined = command.commands.find((one) => one.name() === word);
    if (below === undefined) break;
    command = below;
  }
  // What comes behind it is for another program.
  const own = words.slice(0, words.includes('--') ? words.indexOf('--') : undefined);
  const known = [
    ...GENERAL,
    ...command.options.flatMap(({ short, long }) => [short ?? '', long ?? '']),
    ...(command.parent?.options ?? []).flatMap(({ short, long }) => [short ?? '', long ?? '']),
  ];
  const unknown = own
    .map((word) => word.split('=')[0] ?? '')
    .filter((word) => /^--?[a-z]/i.test(word) && !known.includes(word));
  return unknown.length === 0 ? undefined : `${line}: no such option ${unknown.join(', ')}`;
}

function find(name: string): Command | undefined {
  return tree.find(([entry]) => entry.name === name || entry.aliases?.includes(name))?.[1];
}

test.each(documents)('%s names commands that are there', (path) => {
  const lines = commandsIn(readFileSync(join(root, path), 'utf8'));
  expect(lines.map(misfit).filter((one) => one !== undefined)).toEqual([]);
});

test('there are commands in them', () => {
  const all = documents.flatMap((path) => commandsIn(readFileSync(join(root, path), 'utf8')));
  expect(all.length).toBeGreaterThan(100);
  expect(misfit('holdfast backup --no-such-thing')).toContain('--no-such-thing');
  expect(misfit('holdfast keys rekey --files 3')).toContain('--files');
});
