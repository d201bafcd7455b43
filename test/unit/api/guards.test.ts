import { describe, expect, test } from 'vitest';
import { hostRefusal, originRefusal } from '../../../src/api/access/foreign-pages.ts';

describe('the host', () => {
  const refusal = (rawHeaders: string[], target = '/', port: number | undefined = 7390) =>
    hostRefusal({ rawHeaders }, target, port)?.code;

  test('needs no port where browsers leave it out', () => {
    expect(refusal(['Host', 'localhost'], '/', 80)).toBeUndefined();
    expect(refusal(['Host', 'localhost'])).toBe('HOST_NOT_ALLOWED');
    expect(refusal(['HOST', '[::1]:7390'])).toBeUndefined();
  });

  test('is foreign while it is not known which port is listened on', () => {
    const rawHeaders = ['Host', 'localhost:7390'];
    expect(hostRefusal({ rawHeaders }, '/', undefined)?.code).toBe('HOST_NOT_ALLOWED');
  });
});

describe('the origin', () => {
  const refusal = (headers: Record<string, string>) =>
    originRefusal({ host: 'localhost:7390', ...headers })?.code;

  test('is the very host that was asked, not another name of it', () => {
    expect(refusal({ origin: 'http://localhost:7390' })).toBeUndefined();
    expect(refusal({})).toBeUndefined();
    for (const origin of [
      'http://127.0.0.1:7390',
      'https://localhost:7390',
      'http://localhost',
      'null',
      '',
      'x',
    ]) {
      expect(refusal({ origin }), origin).toBe('ORIGIN_NOT_ALLOWED');
    }
  });

  test('is foreign when the browser says so', () => {
    for (const site of ['cross-site', 'same-site', 'none, cross-site', 'Same-Origin', '']) {
      expect(refusal({ 'sec-fetch-site': site }), site).toBe('ORIGIN_NOT_ALLOWED');
    }
    expect(refusal({ 'sec-fetch-site': 'none' })).toBeUndefined();
  });
});
