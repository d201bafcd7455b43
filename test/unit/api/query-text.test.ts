import { expect, test } from 'vitest';
import { requireEncodedQuery } from '../../../src/api/wire/query-text.ts';

test.each(['/x?path=%FF', '/x?a=1&path=%ED%A0%80', '/x?q=50%', '/x?%C3=1'])('%s is refused', (url) => {
  expect(() => requireEncodedQuery(url)).toThrow('is not percent-encoded UTF-8');
});

test.each(['/x', '/x?', '/x?path=%C3%A9&q=a+b', '/x?q=50%25'])('%s is a query', (url) => {
  expect(() => requireEncodedQuery(url)).not.toThrow();
});
