/**
 * Every name in this project can exist on Windows. A clone there breaks off at the first that cannot, and so does the
 * installer, since what is built has the names of its sources.
 */
import { readdirSync } from 'node:fs';
import { join, sep } from 'node:path';
import { describe, expect, test } from 'vitest';

const ROOT = join(import.meta.dirname, '../..');
const FOLDERS = ['src', 'service', 'test', 'docs'];
/** Devices of Windows, in whatever folder and with whatever ending: learn.microsoft.com, "Naming Files, Paths, and Namespaces". */
const DEVICE = /^(?:con|prn|aux|nul|com[0-9¹²³]|lpt[0-9¹²³])(?:\.|$)/i;
const FORBIDDEN = /[<>:"|?*\\\p{Cc}]|[. ]$/u;

const isPortable = (name: string): boolean => !DEVICE.test(name) && !FORBIDDEN.test(name);

function pathsIn(folder: string): readonly string[] {
  return readdirSync(join(ROOT, folder), { withFileTypes: true }).flatMap((entry) => {
    const path = `${folder}/${entry.name}`;
    if (!entry.isDirectory()) return [path];
    return entry.name === 'node_modules' ? [] : [path, ...pathsIn(path)];
  });
}

const paths = FOLDERS.flatMap(pathsIn);

describe('the names of files and folders', () => {
  test('can exist on Windows', () => {
    expect(paths.length).toBeGreaterThan(1000);
    expect(paths.filter((path) => !isPortable(path.split('/').at(-1) ?? ''))).toEqual([]);
  });

  test('differ by more than their case', () => {
    const names = paths.map((path) => path.toLowerCase());
    expect(paths.filter((path, at) => names.indexOf(path.toLowerCase()) !== at)).toEqual([]);
  });

  test('leave room for the folder of a user, as Windows allows 260 characters unless told otherwise', () => {
    expect(paths.filter((path) => path.length > 150)).toEqual([]);
  });

  test.each([
    'nul.ts',
    'AUX',
    'com1.tar.gz',
    'a:b',
    'what?',
    'dot.',
    'space ',
    `a${sep === '/' ? '\\' : '|'}b`,
  ])('would not be %j', (name) => expect(isPortable(name)).toBe(false));

  test.each(['null.ts', 'console.ts', 'com10.txt', 'auxiliary', '.dot'])('may be %j', (name) =>
    expect(isPortable(name)).toBe(true),
  );
});
