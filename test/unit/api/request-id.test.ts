import { isValid } from 'ulid';
import { expect, test } from 'vitest';
import { requestIdOf } from '../../../src/api/wire/headers.ts';

test('a new id is a ULID of its time, and no two are the same', () => {
  const ids = Array.from({ length: 5_000 }, () => requestIdOf(undefined, 1_700_000_000_000));
  expect(new Set(ids).size).toBe(5_000);
  for (const id of ids) expect(isValid(id.slice(4)) && id.startsWith('req_01HF7YAT00'), id).toBe(true);
  // Every letter of the alphabet turns up in every place.
  for (let place = 14; place < 30; place += 1) {
    expect(new Set(ids.map((id) => id[place])).size, String(place)).toBe(32);
  }
});

test('an id that is fit to be written to a log is kept', () => {
  expect(requestIdOf('a.B-9_', 0)).toBe('a.B-9_');
  for (const unfit of ['', 'a b', 'a\n', 'x'.repeat(65), ['a', 'b']])
    expect(requestIdOf(unfit, 0)).toMatch(/^req_/);
});
