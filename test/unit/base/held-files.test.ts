import { expect, test } from 'vitest';
import { despiteHolders, despiteHoldersSync } from '../../../src/base/held-files.ts';

function failing(code: string, times: number): { readonly act: () => string; readonly calls: () => number } {
  let calls = 0;
  const act = (): string => {
    calls += 1;
    if (calls <= times) throw Object.assign(new Error(code), { code });
    return 'done';
  };
  return { act, calls: () => calls };
}

test('a file that another program closes again is waited for', async () => {
  expect(despiteHoldersSync(failing('EPERM', 2).act, true)).toBe('done');
  const later = failing('EBUSY', 2);
  expect(await despiteHolders(async () => await Promise.resolve(later.act()), true)).toBe('done');
});

test('one that stays open is given up, and other errors are not waited for', () => {
  const held = failing('EACCES', 100);
  expect(() => despiteHoldersSync(held.act, true)).toThrow('EACCES');
  expect(held.calls()).toBe(8);
  const missing = failing('ENOENT', 1);
  expect(() => despiteHoldersSync(missing.act, true)).toThrow('ENOENT');
  expect(missing.calls()).toBe(1);
});

test('elsewhere nothing is tried again', () => {
  const refused = failing('EPERM', 1);
  expect(() => despiteHoldersSync(refused.act, false)).toThrow('EPERM');
  expect(refused.calls()).toBe(1);
});
