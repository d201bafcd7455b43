import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Command } from 'commander';
import { expect, test } from 'vitest';
import type { Context } from '../../../src/cli/command/context.ts';
import { Output } from '../../../src/cli/terminal/output.ts';
import { runProgram } from '../../../src/cli/program.ts';
import { systemClock } from '../../../src/base/clock.ts';
import { commandTree } from '../../support/commands-text.ts';

/** Whatever is run with it does nothing: it was interrupted, and knows no place that is there. */
function interrupted(): Context {
  const state = join(tmpdir(), 'holdfast-empty-words', 'not-there');
  const signal = AbortSignal.abort();
  return {
    stdin: process.stdin,
    out: new Output(process.stdout, signal),
    stderr: process.stderr,
    env: { HOLDFAST_STATE_DIR: state, HOLDFAST_REPOSITORY: join(state, 'repository') },
    clock: systemClock,
    signal,
    exitCode: 0,
    outcome: '',
  };
}

function withPath(
  command: Command,
  path: readonly string[],
): readonly (readonly [Command, readonly string[]])[] {
  return [
    [command, path] as const,
    ...command.commands.flatMap((below) => withPath(below, [...path, below.name()])),
  ];
}

const commands = (await commandTree()).flatMap(([{ name }, command]) => withPath(command, [name]));

/** Each option that takes a value, and each argument, with an empty word. */
const cases = commands.flatMap(([command, path]) => {
  const places = command.registeredArguments;
  const options = command.options
    .filter(({ required, optional }) => required || optional)
    .map(({ long }) => long ?? '');
  return [
    ...options.map((long) => [[...path, long, ''], long] as const),
    ...places.map((place, at) => {
      const words = places.slice(0, at + 1).map((other) => (other === place ? '' : 'x'));
      const rest = places
        .slice(at + 1)
        .filter(({ required }) => required)
        .map(() => 'x');
      const needed = command.options
        .filter(({ mandatory }) => mandatory)
        .flatMap(({ long }) => [long ?? '', 'x']);
      return [[...path, ...needed, ...words, ...rest], `<${place.name()}>`] as const;
    }),
  ];
});

const meant = ['tag --set ', 'config set x '];

test.each(cases.filter(([words]) => !meant.includes(words.join(' '))))(
  'an empty word is refused: %j',
  async (words, where) => {
    await expect(runProgram(words, interrupted())).rejects.toMatchObject({
      code: 'USAGE',
      message: `The value of ${where} is empty`,
    });
  },
);

test('there are such places, and some where an empty word means something', () => {
  expect(cases.length).toBeGreaterThan(200);
  expect(cases.filter(([words]) => meant.includes(words.join(' ')))).toHaveLength(meant.length);
});

test.each([
  [['forget', '--keep-last', '1', '--tag', ',']],
  [['backup', '/x', '--tag', ' , ']],
  [['tag', 'latest', '--add', ',']],
  [['tag', 'latest', '--remove', ',']],
  [['snapshots', '--tag', ',']],
])('a list of tags without a tag is refused: %j', async (words) => {
  await expect(runProgram(words, interrupted())).rejects.toMatchObject({
    code: 'USAGE',
    message: expect.stringContaining('contains no tag'),
  });
});
