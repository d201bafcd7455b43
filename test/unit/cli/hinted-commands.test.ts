// Turn 7 of 8.
/** What is said to be typed can be typed: each command that a text names is there, with its options and its words. */
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { Command, type Option } from 'commander';
import { beforeAll, describe, expect, test } from 'vitest';
import { TOPICS } from '../../../src/cli/commands.ts';
import type { Context } from '../../../src/cli/command/context.ts';
import {
  hintedCommands,
  shellWords,
  sourceFiles,
  sourceOf,
  withoutComments,
} from '../../support/hinted-commands.ts';

const program = new Command();
const root = path.resolve(import.meta.dirname, '..', '..', '..');

/** Texts with the plain name before a word that is also a command. */
const PLAIN: Readonly<Record<string, string>> = {
  'cli/doctor/bundle.ts': 'the report goes to who helps, and says by what it was made',
  'partner/secrets/keys.ts': 'no text for people: what keys are derived for',
};

beforeAll(async () => {
  for (const entry of TOPICS.flatMap(({ commands }) => commands)) {
    const command = program.command(entry.name).aliases(entry.aliases ?? []);
    // Only what a command is made of is looked at: none is run.
    (await entry.load()).define(command, {} as Context);
  }
});

/** Why nobody can type that; undefined when all is well. */
function faultOf(text: string): string | undefined {
  const [first = '', ...rest] = shellWords(text);
  if (first === 'help') return rest.every(isCommand) && rest.length < 2 ? undefined : 'no such command';
  let command = commandNamed(program, first);
  if (command === undefined) return `no command ${first}`;
  const words = [...rest];
  while (command.commands.length > 0) {
    const below: Command | undefined = commandNamed(command, words[0] ?? '');
    if (below === undefined) break;
    command = below;
    words.shift();
  }
  return faultIn(command, words);
}

function faultIn(command: Command, words: readonly string[]): string | undefined {
  const given: string[] = [];
  for (let at = 0; at < words.length; at += 1) {
    const word = words[at] ?? '';
    if (word === '--') {
      given.push(...words.slice(at + 1));
      break;
    }
    if (!/^-./.test(word)) {
      given.push(word);
      continue;
    }
    const option = optionNamed(command, word);
    if (option === undefined) return `${command.name()} has no option ${word}`;
    if (!option.required) continue;
    at += 1;
    if (words[at] === undefined) return `${word} needs a value`;
  }
  return faultOfArguments(command, given);
}

function faultOfArguments(command: Command, given: readonly string[]): string | undefined {
  // "…" is for what the reader knows best.
  if (given.includes('…')) return undefined;
  const { registeredArguments: known } = command;
  const needed = known.filter(({ required }) => required).length;
  if (given.length < needed) return `${command.name()} needs ${needed} words, and has ${given.length}`;
  if (known.at(-1)?.variadic === true || given.length <= known.length) return undefined;
  return command.commands.length > 0
    ? `${command.name()} has no command ${given[0]}`
    : `${command.name()} takes ${known.length} words, and has ${given.length}`;
}

function commandNamed(parent: Command, name: string): Command | undefined {
  return parent.commands.find((one) => one.name() === name || one.aliases().includes(name));
}

function isCommand(name: string): boolean {
  return name === 'VALUE' || commandNamed(program, name) !== undefined;
}

function optionNamed(command: Command, word: string): Option | undefined {
  return command.options.find(({ short, long }) => short === word || long === word);
}

/** Made of words that only a run puts together; tests of their own compare these. */
const ELSEWHERE: ReadonlySet<string> = new Set([
  'ui/pages/restore/reading-commands.ts: VALUE',
  'ui/pages/restore/restore-draft.ts: restore',
]);

/** In a constant of the file. */
function hasEarlyCommand(source: string): boolean {
  const constants = source.matchAll(/^(?:export )?const [^;]*?;$/gm);
  return [...constants].some(([text]) => /oldfast\w*`/.test(text) && !/=>|\bfunction\b/.test(text));
}

describe('a command in a text', () => {
  test('is nowhere written as if every machine had it by that name', () => {
    const names = TOPICS.flatMap(({ commands }) =>
      commands.flatMap(({ name, aliases = [] }) => [name, ...aliases]),
    );
    const plain = new RegExp(String.raw`\bholdfast (?:${[...names, 'help', '--help'].join('|')})\b`);
    const found = sourceFiles().filter((file) => plain.test(withoutComments(sourceOf(file))));
    expect(found).toEqual(Object.keys(PLAIN));
    // What is installed as it stands: the first line of a template is left out.
    const units = ['holdfast.service', 'holdfast-user.service'].map((name) =>
      readFileSync(path.join(root, 'service', 'systemd', name), 'utf8').replace(/^# Template.*/, ''),
    );
    expect(units.filter((text) => plain.test(text))).toEqual([]);
  });

  test('is made when it is said, and not when a file is loaded', () => {
    // The page knows its program from the start.
    const early = sourceFiles().filter((file) => !file.startsWith('ui/') && hasEarlyCommand(sourceOf(file)));
    expect(early).toEqual([]);
    expect(hasEarlyCommand('const HINT =\n  `Run: ${holdfast`check`}`;\n')).toBe(true);
    expect(hasEarlyCommand('const hint = (): string => `Run: ${holdfast`check`}`;\n')).toBe(false);
  });

  test('is one that there is', () => {
    const found = hintedCommands();
    // The scan sees them at all.
    expect(found.length).toBeGreaterThan(200);
    const faults = found
      .filter(({ file, text }) => !ELSEWHERE.has(`${file}: ${text}`))
      .map(({ file, line, text }) => ({ where: `${file}:${line}`, text, fault: faultOf(text) }))
      .filter(({ fault }) => fault !== undefined);
    expect(faults).toEqual([]);
  });

  test.each([
    ['jobs --status failed', undefined],
    ['dump latest /x', undefined],
    ['jbos', 'no command jbos'],
    ['keys ad', 'keys has no command ad'],
    ['jobs --state failed', 'jobs has no option --state'],
    ['jobs --status', '--status needs a value'],
    ['ls', 'ls needs 1 words, and has 0'],
  ])('is judged: %s', (text, fault) => {
    expect(faultOf(text)).toBe(fault);
  });
});
