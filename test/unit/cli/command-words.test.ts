import { expect, test } from 'vitest';
import { splitWords } from '../../../src/cli/command/command-words.ts';

test.each([
  ['-r', 'nas'],
  ['--repository', 'nas'],
  ['--password-file', 'backup'],
  ['--password-command', 'pass show nas'],
  ['--config', '/etc/holdfast/config.json'],
])('%s and its value may stand before the command', (option, value) => {
  const words = [option, value, 'snapshots', '--json'];
  expect(splitWords(words)).toEqual({ name: 'snapshots', before: [option, value], after: ['--json'] });
});

test('without a command all words are options', () => {
  expect(splitWords(['--config', 'status'])).toEqual({
    name: undefined,
    before: ['--config', 'status'],
    after: [],
  });
});
