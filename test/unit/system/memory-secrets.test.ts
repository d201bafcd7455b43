import { spawnSync } from 'node:child_process';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import { SOURCE_FLAGS } from '../../support/node-flags.ts';

const file = path.join(import.meta.dirname, '../../../src/system/memory-secrets.ts');

/** Runs a program with these functions, and gives what it prints. */
function run(code: string, env: Record<string, string>): string {
  const program = `
    import { readFileSync } from 'node:fs';
    import { forbidCoreFiles, forgetVariables } from ${JSON.stringify(file)};
    const seen = () => readFileSync('/proc/self/environ', 'latin1');
    ${code}`;
  const { stdout, stderr } = spawnSync(
    process.execPath,
    [...SOURCE_FLAGS, '--input-type=module', '--eval', program],
    { encoding: 'utf8', env: { ...env, PATH: process.env['PATH'] } },
  );
  expect(stderr.replaceAll(/.*Warning.*\n/g, '')).toBe('');
  return stdout;
}

describe.runIf(process.platform === 'linux')('a variable that is forgotten', () => {
  test('is gone from the environment and from the memory that the system shows of it', () => {
    const code = `
      const before = seen().includes('hunter2');
      forgetVariables(process.env, ['SECRET', 'ABSENT']);
      console.log(before, process.env.SECRET, seen().includes('hunter2'), process.env.OTHER, seen().includes('kept'));`;
    expect(run(code, { SECRET: 'hunter2 ö', OTHER: 'kept' })).toBe('true undefined false kept true\n');
  });

  test('is gone from a copy of the environment, and from nothing else', () => {
    const code = `
      const copy = { ...process.env };
      forgetVariables(copy, ['SECRET']);
      console.log(copy.SECRET, process.env.SECRET, seen().includes('hunter2'));`;
    expect(run(code, { SECRET: 'hunter2' })).toBe('undefined hunter2 true\n');
  });

  test('was forgotten before children could have it', () => {
    const code = `
      import { execFileSync } from 'node:child_process';
      forgetVariables(process.env, ['SECRET']);
      console.log(execFileSync('env', { encoding: 'utf8' }).includes('SECRET'));`;
    expect(run(code, { SECRET: 'hunter2' })).toBe('false\n');
  });
});

test.runIf(process.platform === 'linux')('core files are forbidden to the process and its children', () => {
  const code = `
    import { execFileSync } from 'node:child_process';
    forbidCoreFiles();
    console.log(execFileSync('sh', ['-c', 'ulimit -c; ulimit -Hc'], { encoding: 'utf8' }));`;
  expect(run(code, {})).toBe('0\n0\n\n');
});
