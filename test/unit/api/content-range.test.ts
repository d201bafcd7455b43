import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { readRange } from '../../../src/api/wire/headers.ts';
import { attachment } from '../../../src/api/routes/content-routes.ts';

test.each([
  ['bytes=0-', 10, { start: 0, end: 10 }],
  ['bytes=0-9', 10, { start: 0, end: 10 }],
  ['Bytes = 3 - 5', 10, { start: 3, end: 6 }],
  ['bytes=-3', 10, { start: 7, end: 10 }],
  ['bytes=9-9', 10, { start: 9, end: 10 }],
  ['bytes=0-0', 0, 'unsatisfiable'],
  ['bytes=-1', 0, 'unsatisfiable'],
  ['bytes=10-', 10, 'unsatisfiable'],
  ['bytes=99999999999999999999-', 10, 'unsatisfiable'],
  ['bytes=0-99999999999999999999', 10, { start: 0, end: 10 }],
  ['bytes=-', 10, undefined],
  ['bytes=5-3', 10, undefined],
  ['bytes=1-2,3-4', 10, undefined],
  ['items=1-2', 10, undefined],
  [undefined, 10, undefined],
])('%j of %d bytes is %j', (header, size, range) => {
  expect(readRange(header, size)).toEqual(range);
});

test('a header of blanks takes little time', () => {
  const started = process.cpuUsage();
  expect(readRange(`bytes=${' '.repeat(60_000)}x`, 10)).toBeUndefined();
  expect(readRange(`bytes=1${' '.repeat(60_000)}x`, 10)).toBeUndefined();
  expect(process.cpuUsage(started).user).toBeLessThan(500_000);
});

test('a range never leaves the file', () => {
  const bound = fc.oneof(fc.constant(''), fc.nat(50).map(String));
  fc.assert(
    fc.property(bound, bound, fc.nat(40), (first, last, size) => {
      const range = readRange(`bytes=${first}-${last}`, size);
      if (range === undefined || range === 'unsatisfiable') return;
      expect(range.start).toBeGreaterThanOrEqual(0);
      expect(range.start).toBeLessThan(range.end);
      expect(range.end).toBeLessThanOrEqual(size);
    }),
  );
});

test.each([
  ['a b.txt', `attachment; filename="a b.txt"; filename*=UTF-8''a%20b.txt`],
  ['é.txt', `attachment; filename="_.txt"; filename*=UTF-8''%C3%A9.txt`],
  [`"x\\y'(1)*.txt`, `attachment; filename="_x_y'(1)*.txt"; filename*=UTF-8''%22x%5Cy%27%281%29%2A.txt`],
  [
    'a\r\nset-cookie: x',
    `attachment; filename="a__set-cookie: x"; filename*=UTF-8''a%0D%0Aset-cookie%3A%20x`,
  ],
  ['../../etc/passwd', `attachment; filename=".._.._etc_passwd"; filename*=UTF-8''.._.._etc_passwd`],
  ['\ud800', `attachment; filename="_"; filename*=UTF-8''%EF%BF%BD`],
])('a file named %j is sent as an attachment', (name, header) => {
  expect(attachment(name)).toBe(header);
});
