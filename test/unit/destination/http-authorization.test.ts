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
    expect(plain.challenged('Basic realm="x", charset="UTF-8"', undefined)).toBe('asked');
    expect(plain.header('GET', '/')).toBe(`Basic ${Buffer.from('Mufasa:Circle of Life').toString('base64')}`);
    const better = createAuthorization(someone);
    expect(better.challenged('Basic realm="x", Digest realm="x", nonce="n", qop="auth"', undefined)).toBe(
      'asked',
    );
    expect(better.header('GET', '/')).toMatch(/^Digest /);
  });

  test('prefers SHA-256 and counts the uses of a nonce', () => {
    const both =
      'Digest realm="r", qop="auth, auth-int", algorithm=MD5, nonce="one", opaque="o", ' +
      'Digest realm="r", qop="auth", algorithm=SHA-256, nonce="two", opaque="o"';
    const authorization = createAuthorization(someone);
    expect(authorization.challenged(both, undefined)).toBe('asked');
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
      undefined,
    );
    expect(authorization.header('GET', '/dir/index.html')).toContain(
      'response="1949323746fe6a43ef61f9606e7febea"',
    );
  });

  test('takes a refusal for one of what was sent, not of what is known by now', () => {
    const digest = createAuthorization(someone);
    expect(digest.challenged('Digest realm="x", nonce="a", qop="auth"', undefined)).toBe('asked');
    const [first, second] = [digest.header('GET', '/'), digest.header('GET', '/')];
    const renewed = 'Digest realm="x", nonce="b", stale=true, qop="auth"';
    expect(digest.challenged(renewed, first)).toBe('stale');
    expect(digest.header('GET', '/')).toContain('nc=00000001');
    expect(digest.challenged(renewed, second)).toBe('stale');
    // A server that counts takes no number twice.
    expect(digest.header('GET', '/')).toContain('nc=00000002');
    const plain = createAuthorization(someone);
    expect(plain.challenged('Basic realm="x"', undefined)).toBe('asked');
    expect(plain.challenged('Basic realm="x"', undefined)).toBe('asked');
  });

  test('does not try the same password again', () => {
    const plain = createAuthorization(someone);
    expect(plain.challenged('Basic realm="x"', undefined)).toBe('asked');
    expect(plain.challenged('Basic realm="x"', plain.header('GET', '/'))).toBe('refused');
    const digest = createAuthorization(someone);
    expect(digest.challenged('Digest realm="x", nonce="a", qop="auth"', undefined)).toBe('asked');
    const sent = digest.header('GET', '/');
    expect(digest.challenged('Digest realm="x", nonce="b", stale=false, qop="auth"', sent)).toBe('asked');
    const again = digest.header('GET', '/');
    expect(digest.challenged('Digest realm="x", nonce="b", qop="auth"', again)).toBe('refused');
    expect(createAuthorization({ user: 'x' }).challenged('Basic realm="x"', undefined)).toBe('refused');
    expect(createAuthorization(someone).challenged('Negotiate', undefined)).toBe('refused');
    expect(createAuthorization({ token: 't' }).challenged('Bearer', 'Bearer t')).toBe('refused');
  });
});
