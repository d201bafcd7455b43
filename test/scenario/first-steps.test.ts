/** docs/first-steps.md: the real program and the real curl do what the document shows. */
// Turn 5 of 8.
import { spawnSync } from 'node:child_process';
import { mkdir, symlink } from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import { comparable, stepsOf } from '../support/document-commands.ts';
import { followFirstSteps } from '../support/first-steps.ts';

const root = path.resolve(import.meta.dirname, '..', '..');
const hasCurl = spawnSync('curl', ['--version']).status === 0;

describe.runIf(hasCurl && process.platform !== 'win32')('docs/first-steps.md', () => {
  test('shows what each of its commands prints', async () => {
    // The sweep does the first step as it stands, in a fresh clone; here the program is installed and built already.
    const { steps, started } = await followFirstSteps(root, async (home) => {
      const directory = path.join(home, 'holdfast');
      await mkdir(directory);
      await symlink(path.join(root, 'service'), path.join(directory, 'service'));
      return {
        directory,
        command: `exec ${process.execPath} service/bin/holdfast.js start --source ~/Documents --port 0`,
      };
    });
    expect(started).toContain('Backed up 1 file (11 B) from ');
    expect(steps.length).toBeGreaterThan(8);
    for (const { command, shown = '', printed } of steps)
      expect({ command, printed: comparable(printed) }).toEqual({ command, printed: comparable(shown) });
  });
});

describe('comparing what is printed with a document', () => {
  test('sees other names, other kinds of values and other numbers, but not other ids and times', () => {
    const reply =
      '{"id": "bkp_01M7ZQ9DMPD3BWEB3AJKB5TMEF", "at": "2026-11-21T18:53:21.430Z", "files": 2, "reset": 5}';
    const same = '{"id":"bkp_01M7ZQ9DMPD3BWEB3AJKB5TAAA","at":"2027-01-01T00:00:00Z","files":2,"reset":9}';
    expect(comparable(reply)).toEqual(comparable(same));
    for (const other of [
      same.replace('"files":2', '"files":3'),
      same.replace('"files":2', '"files":"2"'),
      same.replace('files', 'count'),
      same.replace('bkp_', 'rst_'),
      same.replace('"reset":9', '"reset":null'),
    ])
      expect(comparable(other)).not.toEqual(comparable(reply));
  });

  test('finds each command with what it prints', () => {
    const text =
      'A:\n\n```sh\nls\n```\n\nIt says\n\n```text\na b\n```\n\n```sh\ntrue\n```\n\n```sh\npwd\n```\n';
    expect(stepsOf(text)).toEqual([
      { command: 'ls\n', shown: 'a b\n' },
      { command: 'true\n', shown: undefined },
      { command: 'pwd\n', shown: undefined },
    ]);
  });
});
