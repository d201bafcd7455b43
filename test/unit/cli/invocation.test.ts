import { describe, expect, test } from 'vitest';
import { invocation, quoted } from '../../../src/cli/invocation.ts';

describe('how the program is called, for commands that are to be typed next', () => {
  const npm = { npm_lifecycle_event: 'start', npm_package_name: 'holdfast' };

  test.each<readonly [string, Record<string, string>, string | undefined, string]>([
    ['below npm', npm, '/work/service/bin/holdfast.js', 'npm start --'],
    [
      'below npm of another package',
      { ...npm, npm_package_name: 'x' },
      '/h/holdfast.js',
      'node /h/holdfast.js',
    ],
    ['as it was installed by npm', {}, '/usr/local/bin/holdfast', 'holdfast'],
    ['from the Debian package', {}, '/usr/lib/holdfast/service/bin/holdfast.js', 'holdfast'],
    ['from its own directory', {}, '/home/anna/h/service/bin/holdfast.js', 'node service/bin/holdfast.js'],
    ['from elsewhere', {}, '/opt/my tools/holdfast.js', "node '/opt/my tools/holdfast.js'"],
  ])('%s', (_where, env, script, expected) => {
    expect(invocation(env, script, '/home/anna/h')).toBe(expected);
  });

  test('is told by its whole path where nobody knows from where it is typed', () => {
    expect(invocation({}, '/usr/share/h/holdfast.js', undefined)).toBe('node /usr/share/h/holdfast.js');
  });

  test('is quoted for a shell only where it must be', () => {
    expect(quoted('/a/b-c.js')).toBe('/a/b-c.js');
    expect(quoted("it's")).toBe(String.raw`'it'\''s'`);
  });
});
