import { describe, expect, test } from 'vitest';
import { DestinationError } from '../../../src/base/errors.ts';
import { retryAfterMs, webFailure, type WebAnswer } from '../../../src/destination/http-failure.ts';

const action = { op: 'read', url: 's3://bucket', key: 'packs/a' };

function failureOf(error: unknown, answer?: Partial<WebAnswer>): unknown {
  const whole = { status: undefined, code: undefined, retryAfterMs: undefined, ...answer };
  return webFailure(error, action, () => (answer === undefined ? undefined : whole));
}

function withCode(code: string): Error {
  return Object.assign(new Error('it failed'), { code });
}

describe('the answer of a web server', () => {
  test.each([
    [200, 'corrupt-reply', 'now'],
    [301, 'unsupported', 'never'],
    [400, 'unsupported', 'never'],
    [401, 'denied', 'never'],
    [403, 'denied', 'never'],
    [404, 'not-found', 'never'],
    [405, 'unsupported', 'never'],
    [408, 'unreachable', 'now'],
    [409, 'exists', 'never'],
    [412, 'exists', 'never'],
    [413, 'unsupported', 'never'],
    [416, 'corrupt-reply', 'never'],
    [429, 'unreachable', 'later'],
    [500, 'unreachable', 'later'],
    [501, 'unsupported', 'never'],
    [503, 'unreachable', 'later'],
    [507, 'full', 'later'],
  ])('%i is %s, to be tried again %s', (status, kind, retry) => {
    const failure = failureOf(new Error('x'), { status });
    expect(failure).toBeInstanceOf(DestinationError);
    expect(failure).toMatchObject({
      kind,
      retry,
      message: expect.stringMatching(/^Cannot read packs\/a in s3:\/\/bucket: /),
      hint: expect.stringMatching(/\w\.$/),
      details: { status, key: 'packs/a' },
    });
  });

  test.each([
    [429, undefined, true],
    [503, undefined, true],
    [500, 'SlowDown', true],
    [500, undefined, undefined],
  ])('%i %s tells of too many requests: %s', (status, code, throttled) => {
    const { details } = failureOf(new Error('x'), { status, code }) as DestinationError;
    expect(details['throttled']).toBe(throttled);
  });
});

describe('without an answer', () => {
  test.each(['ECONNREFUSED', 'ECONNRESET', 'ENOTFOUND', 'EAI_AGAIN', 'ETIMEDOUT', 'EPIPE', 'ENETUNREACH'])(
    '%s is unreachable',
    (code) => {
      expect(failureOf(withCode(code))).toMatchObject({ kind: 'unreachable', retry: 'later' });
      expect(failureOf(new Error('outer', { cause: withCode(code) }))).toMatchObject({ kind: 'unreachable' });
      expect(failureOf(new AggregateError([withCode(code)], 'all'))).toMatchObject({ kind: 'unreachable' });
    },
  );

  test.each([
    'CERT_HAS_EXPIRED',
    'ERR_TLS_CERT_ALTNAME_INVALID',
    'DEPTH_ZERO_SELF_SIGNED_CERT',
    'SELF_SIGNED_CERT_IN_CHAIN',
    'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
    'UNABLE_TO_GET_ISSUER_CERT_LOCALLY',
  ])('%s closes the door, and is not tried again', (code) => {
    expect(failureOf(withCode(code))).toMatchObject({
      kind: 'denied',
      retry: 'never',
      message: expect.stringContaining('certificate'),
    });
  });

  test.each(['ERR_SSL_TLSV1_ALERT_PROTOCOL_VERSION', 'ERR_SSL_WRONG_VERSION_NUMBER', 'EPROTO'])(
    '%s does too, and nobody is told that a certificate were wrong',
    (code) => {
      expect(failureOf(withCode(code))).toMatchObject({
        kind: 'denied',
        retry: 'never',
        message: expect.stringContaining('no secure connection'),
      });
    },
  );

  test('aborts, known failures and errors of the program stay what they are', () => {
    for (const error of [
      new DOMException('stopped', 'AbortError'),
      new DestinationError('full', 'full'),
      new TypeError('undefined is not a function'),
    ])
      expect(failureOf(error)).toBe(error);
  });
});

test.each([
  ['120', undefined, 120_000],
  [' 0 ', undefined, 0],
  ['Fri, 31 Dec 1999 23:59:59 GMT', 'Fri, 31 Dec 1999 23:59:29 GMT', 30_000],
  ['Fri, 31 Dec 1999 23:59:59 GMT', 'Sat, 01 Jan 2000 00:00:00 GMT', 0],
  ['Fri, 31 Dec 1999 23:59:59 GMT', undefined, 0],
  ['99999999999999', undefined, 86_400_000],
  ['soon', undefined, undefined],
  [undefined, undefined, undefined],
])('Retry-After %j at %j is %j milliseconds', (value, date, expected) => {
  expect(retryAfterMs(value, date)).toBe(expected);
});
