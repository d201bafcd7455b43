import { describe, expect, it } from 'vitest';
import {
  crumbsOf,
  nameOf,
  parentOf,
  pathQuery,
  refOfB64,
  requestPath,
  ROOT,
  shellPath,
  textRef,
} from '../../../src/ui/pages/restore/path-ref.ts';

const b64 = (bytes: string): string => Buffer.from(bytes, 'latin1').toString('base64');

describe('a path', () => {
  it('has all directories above it', () => {
    expect(crumbsOf(textRef('/home/ann/ä.txt'))).toEqual([
      { path: '/', path_b64: null, name: '/' },
      { path: '/home', path_b64: null, name: 'home' },
      { path: '/home/ann', path_b64: null, name: 'ann' },
      { path: '/home/ann/ä.txt', path_b64: null, name: 'ä.txt' },
    ]);
    expect(parentOf(textRef('/home/ann'))).toEqual(textRef('/home'));
    expect(parentOf(textRef('/home'))).toEqual(ROOT);
    expect(parentOf(ROOT)).toEqual(ROOT);
    expect(nameOf(ROOT)).toBe('/');
  });

  it('is asked for by its bytes when it is no UTF-8, and by text above that', () => {
    const ref = refOfB64(b64('/a/\xff\xfe/b')) ?? ROOT;
    expect(ref).toEqual({ path: '/a/\u{FFFD}\u{FFFD}/b', path_b64: b64('/a/\xff\xfe/b') });
    expect(pathQuery(ref)).toEqual({ path_b64: b64('/a/\xff\xfe/b') });
    expect(requestPath(ref)).toEqual({ path_b64: b64('/a/\xff\xfe/b') });
    expect(crumbsOf(ref).map(({ path_b64: bytes }) => bytes)).toEqual([
      null,
      null,
      b64('/a/\xff\xfe'),
      b64('/a/\xff\xfe/b'),
    ]);
    expect(pathQuery(parentOf(parentOf(ref)))).toEqual({ path: '/a' });
  });

  it('keeps a mark at the beginning of a name that would be taken for one of byte order', () => {
    expect(refOfB64(b64('\xef\xbb\xbfx'))?.path).toBe('\u{FEFF}x');
  });

  it('is none when its base64 is none', () => {
    expect(refOfB64('~')).toBeUndefined();
  });
});

describe('shellPath', () => {
  it('quotes what a shell would not take as it is', () => {
    expect(shellPath(textRef('/a b'))).toBe("'/a b'");
  });

  it('writes bytes that are no UTF-8', () => {
    expect(shellPath(refOfB64(b64("/\xff'\\")) ?? ROOT)).toBe(String.raw`$'/\xff\x27\x5c'`);
  });
});
