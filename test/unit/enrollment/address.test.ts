import { expect, test } from 'vitest';
import { partnerAddress, routeUrl } from '../../../src/enrollment/ask-partner.ts';

test.each([
  ['https://backup.example.org', 'https://backup.example.org'],
  [' https://backup.example.org/ ', 'https://backup.example.org'],
  ['https://backup.example.org:8443/api/partner/v1', 'https://backup.example.org:8443'],
  ['https://example.org/holdfast/api/partner/v1/', 'https://example.org/holdfast'],
  ['http://127.0.0.1:7391', 'http://127.0.0.1:7391'],
  ['http://[::1]:7391', 'http://[::1]:7391'],
  ['http://localhost:7391', 'http://localhost:7391'],
])('%s is %s', (text, address) => {
  expect(partnerAddress(text)).toBe(address);
});

test('routes are below the prefix', () => {
  expect(routeUrl('https://example.org/holdfast', '/enroll')).toBe(
    'https://example.org/holdfast/api/partner/v1/enroll',
  );
});

test.each([
  'http://backup.example.org',
  'http://localhost.example.org',
  'http://127.0.0.1.nip.io',
  'http://10.0.0.1',
  'ftp://backup.example.org',
  'backup.example.org',
  'https://me:secret@backup.example.org',
  'https://backup.example.org/?token=x',
  'https://backup.example.org/#x',
  '',
])('%s is refused, with advice', (text) => {
  expect(() => partnerAddress(text)).toThrow(
    expect.objectContaining({ code: 'INVALID_URL', hint: expect.stringMatching(/.\.$/) }),
  );
});
