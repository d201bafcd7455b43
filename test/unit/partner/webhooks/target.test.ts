import { describe, expect, it } from 'vitest';
import { ApiError } from '../../../../src/api/wire/api-error.ts';
import { parseTarget } from '../../../../src/partner/webhooks/target.ts';

describe('the URL of a webhook', () => {
  it.each([
    ['https://hooks.example.com', 'https://hooks.example.com/'],
    ['https://hooks.example.com:443/a/b?key=1&c', 'https://hooks.example.com/a/b?key=1&c'],
    ['HTTPS://Hooks.Example.COM/Path', 'https://hooks.example.com/Path'],
    ['https://bäckerei.example.com/ü', 'https://xn--bckerei-5wa.example.com/%C3%BC'],
    ['https://0x7f.example.com/', 'https://0x7f.example.com/'],
    ['https://10.0.0.1.nip.example.com/@x', 'https://10.0.0.1.nip.example.com/@x'],
  ])('may be %s', (text, href) => {
    const { url, testAuthority } = parseTarget(text, []);
    expect([url.href, testAuthority]).toEqual([href, null]);
  });

  it('is refused with a code, a reason and what to do', () => {
    const refuse = (): unknown => parseTarget('http://hooks.example.com/', []);
    expect(refuse).toThrow(ApiError);
    expect(refuse).toThrow(
      expect.objectContaining({
        code: 'INVALID_WEBHOOK_URL',
        statusCode: 400,
        message:
          'The URL does not begin with https:// and a name. Give an https URL with a public host name, on port 443.',
        details: { reason: 'not_https' },
      }),
    );
  });

  it('may lead to a receiver of tests, by exactly its host and port', () => {
    const testTargets = [
      { host: 'localhost', port: 8443, authority: 'PEM' },
      { host: '[::1]', port: 443, authority: 'PEM 6' },
    ];
    const authorityOf = (text: string): string | null => parseTarget(text, testTargets).testAuthority;
    expect(authorityOf('https://localhost:8443/hook')).toBe('PEM');
    expect(authorityOf('https://LOCALHOST:8443/hook')).toBe('PEM');
    expect(authorityOf('https://[::1]/hook')).toBe('PEM 6');
    expect(authorityOf('https://hooks.example.com/')).toBeNull();
    for (const other of [
      'https://localhost:8444/',
      'https://localhost/',
      'https://127.0.0.1:8443/',
      'https://[::1]:8443/',
      'https://localhost.:8443/',
      'https://a.localhost:8443/',
      // What holds for every URL holds for them.
      'http://localhost:8443/',
      'https://a@localhost:8443/',
      'https://localhost:8443/#a',
    ]) {
      expect(() => authorityOf(other), other).toThrow(ApiError);
    }
  });
});
