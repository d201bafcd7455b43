import { createRequire } from 'node:module';
import { expect, test } from 'vitest';
import { reasonOf } from '../../../src/codec/zstd-choice.ts';

function coded(code: string, message: string): Error {
  return Object.assign(new Error(message), { code });
}

function failureOf(name: string): unknown {
  try {
    return createRequire(import.meta.url)(name);
  } catch (error) {
    return error;
  }
}

test('why the package for zstd is not used is told without the names of its files', () => {
  const binary = failureOf('./build/Release/binding.node');
  expect(String(binary)).toContain('binding.node');
  expect(reasonOf(binary)).toBe('it is not installed, or its binary was not fetched');
  expect(reasonOf(failureOf('no-such-package/binding.js'))).toBe(reasonOf(binary));
  const other = coded('ERR_DLOPEN_FAILED', '/a/binding.node: invalid ELF header');
  expect(reasonOf(other)).toBe('its binary is not for this system');
  expect(reasonOf(new Error('first line\nsecond line'))).toBe('first line');
});
