import { describe, expect, test } from 'vitest';
import { asByteString, bytesOfText } from '../../../../src/base/byte-path.ts';
import { sourceFolderName, timeNames } from '../../../../src/api/webdav/folder-names.ts';

function nameOf(path: string | readonly string[], host?: string): string {
  const paths = typeof path === 'string' ? [path] : path;
  return sourceFolderName(paths.map(bytesOfText), host);
}

describe('the folder of a source', () => {
  test('is named after its path', () => {
    expect(nameOf('/home/ana')).toBe('home+ana');
    expect(nameOf('/srv/my-project/données')).toBe('srv+my-project+données');
    expect(nameOf('/')).toBe('+');
  });

  test('is named with the host when that is another one', () => {
    expect(nameOf('/home/ana', 'desk')).toBe('home+ana@desk');
  });

  test('ends with a hash when the path can be told from its name no longer', () => {
    const hash = /~[0-9a-f]{8}$/;
    for (const path of [
      '/a+b',
      '/a@b',
      '/a~b',
      '/a,b',
      '/a:b',
      '/a\\b',
      '/a\nb',
      '/a\u202eb',
      '/a.',
      '/a ',
      '/a//b',
    ])
      expect(nameOf(path), path).toMatch(hash);
    expect(sourceFolderName([asByteString('/caf\u00e9')], undefined)).toMatch(hash);
    expect(nameOf('/a', 'de/sk')).toMatch(/^a@de_sk~[0-9a-f]{8}$/);
    expect(nameOf(['/etc', '/home'])).toMatch(/^etc,home~[0-9a-f]{8}$/);
  });

  test('is another one for another source, also when both look alike', () => {
    const alike = [
      nameOf('/a/b'),
      nameOf('/a+b'),
      nameOf('/a:b'),
      nameOf('/a?b'),
      nameOf('/a_b'),
      nameOf('/a', 'b'),
      nameOf('/a@b'),
      nameOf('/a//b'),
      nameOf(['/a', '/b']),
      nameOf('/a,/b'),
      sourceFolderName([asByteString('/caf\u00e9')], undefined),
      sourceFolderName([asByteString('/caf\u00e8')], undefined),
      nameOf(`/${'x'.repeat(200)}1`),
      nameOf(`/${'x'.repeat(200)}2`),
    ];
    expect(new Set(alike).size).toBe(alike.length);
  });

  test('has a name that every system takes', () => {
    const paths = [
      `/${'\u3042'.repeat(80)}/${'\u{1f469}'.repeat(60)}`,
      '/a<b>c:d"e|f?g*h\\i',
      '/\u0001\u007f',
      '/..',
    ];
    for (const path of paths) {
      const name = nameOf(path, 'desk');
      expect(Buffer.byteLength(name), path).toBeLessThanOrEqual(255);
      expect(name, path).toMatch(/^[^\p{C}<>:"/\\|?*]+[^\p{C}<>:"/\\|?* .]$/u);
    }
  });
});

describe('the folder of a snapshot', () => {
  test('is named after its time where the person is', () => {
    const ms = Date.UTC(2026, 10, 22, 23, 5, 9);
    expect(timeNames('UTC')(ms)).toBe('2026-11-22_23-05-09');
    expect(timeNames('Asia/Tokyo')(ms)).toBe('2026-11-23_08-05-09');
    expect(timeNames('UTC')(Date.UTC(2026, 0, 2, 0, 0, 0))).toBe('2026-01-02_00-00-00');
  });
});
