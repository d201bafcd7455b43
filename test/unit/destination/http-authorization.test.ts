import { describe, expect, test } from 'vitest';
import { createAuthorization } from '../../../src/destination/http-authorization.ts';

const someone = { user: 'Mufasa', password: 'Circle of Life' };

describe('authorization', () => {
  test('says nothing before it is asked', () => {
    expect(createAuthorization(someone).header('GET', '/')).toBeUndefined();
  });

  test('sends a token from the beginning, and a password in clear text only when nothing better is asked for', () => {
    expect(createAuthorization({ token: 't' }).header('GET', '/')).toBe('Bearer t');
    const plain = createAuthorization(someone);
    expect(plain.challenged('Basic realm="x", charset="UTF-8"')).toBe(true);
    expect(plain.header('GET', '/')).toBe(`Basic ${Buffer.from('Mufasa:Circle of Life').toString('base64')}`);
    const better = createAuthorization(someone);
    expect(better.challenged('Basic realm="x", Digest realm="x", nonce="n", qop="auth"')).toBe(true);
    expect(better.header('GET', '/')).toMatch(/^Digest /);
  });

  test('prefers SHA-256 and counts the uses of a nonce', () => {
    const both =
      'Digest realm="r", qop="auth, auth-int", algorithm=MD5, nonce="one", opaque="o", ' +
      'Digest realm="r", qop="auth", algorithm=SHA-256, nonce="two", opaque="o"';
    const authorization = createAuthorization(someone);
    expect(authorization.challenged(both)).toBe(true);
    const first = authorization.header('PUT', '/a%20b');
    expect(first).toContain('algorithm=SHA-256');
    expect(first).toContain('nonce="two"');
    expect(first).toContain('uri="/a%20b"');
    expect(first).toContain('nc=00000001');
    expect(authorization.header('GET', '/')).toContain('nc=00000002');
  });

  test('computes the response of RFC 2069, which knows no qop', () => {
    const authorization = createAuthorization({ user: 'Mufasa', password: 'CircleOfLife' });
    authorization.challenged(
      'Digest realm="testrealm@host.com", nonce="dcd98b7102dd2f0e8b11d0f600bfb0c093", opaque="5ccc"',
    );
    expect(authorization.header('GET', '/dir/index.html')).toContain(
      'response="1949323746fe6a43ef61f9606e7febea"',
    );
  });

  test('does not try the same password again', () => {
    const plain = createAuthorization(someone);
    expect(plain.challenged('Basic realm="x"')).toBe(true);
    expect(plain.challenged('Basic realm="x"')).toBe(false);
    const digest = createAuthorization(someone);
    expect(digest.challenged('Digest realm="x", nonce="a", qop="auth"')).toBe(true);
    expect(digest.challenged('Digest realm="x", nonce="b", stale=true, qop="auth"')).toBe(true);
    expect(digest.challenged('Digest realm="x", nonce="b", qop="auth"')).toBe(false);
    expect(createAuthorization({ user: 'x' }).challenged('Basic realm="x"')).toBe(false);
    expect(createAuthorization(someone).challenged('Negotiate')).toBe(false);
  });
});
