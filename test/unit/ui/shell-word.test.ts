import { execFileSync } from 'node:child_process';
import { describe, expect, it } from 'vitest';
import { shellWord } from '../../../src/ui/agent/program.ts';

const NAMES = [
  'plain-1.txt',
  '/srv/with space',
  "it's",
  '$HOME `id` "x" \\ !',
  '~/x',
  '-n',
  'new\nline and tab\t',
  'evil\u202Egnp.exe',
  "both ' and \u2028",
  '\u{E0041}tag\\n',
  '',
];

describe('a word of a command line', () => {
  it('comes to the program as it is', () => {
    for (const name of NAMES) {
      const out = execFileSync('bash', ['--norc', '-c', `printf '%s' ${shellWord(name)}`], {
        env: { LC_ALL: 'C.UTF-8' },
        stdio: ['ignore', 'pipe', 'inherit'],
      });
      expect(out.toString()).toBe(name);
    }
  });

  it('shows every character', () => {
    for (const name of NAMES) expect(shellWord(name)).not.toMatch(/\p{C}|\p{Zl}|\p{Zp}/u);
  });
});
