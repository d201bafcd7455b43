/** `syncfs` says what could not be written from Linux 5.8 on; before, it is not to be relied on. */
import type * as OperatingSystem from 'node:os';
import { describe, expect, test, vi } from 'vitest';
import { isKernelFrom } from '../../../src/system/directory-calls.ts';

const kernel = vi.hoisted(() => ({ release: '' }));

vi.mock('node:os', async (importOriginal) => ({
  ...(await importOriginal<typeof OperatingSystem>()),
  release: () => kernel.release,
}));

describe('a kernel', () => {
  test.each([
    '5.8',
    '5.8.0',
    '5.8.0-63-generic',
    '5.10.0-28-amd64',
    '5.15.167.4-microsoft-standard-WSL2',
    '6.1.0',
    '10.0.1',
  ])('%s is 5.8 or newer', (release) => {
    expect(isKernelFrom(release, 5, 8)).toBe(true);
  });

  test.each([
    '5.7.19',
    '5.4.0-150-generic',
    '4.18.0-553.el8_10.x86_64',
    '4.9.0',
    '3.10.0-1160.el7',
    '',
    '5',
    'v6.1',
    'unknown',
  ])('%j is not', (release) => {
    expect(isKernelFrom(release, 5, 8)).toBe(false);
  });
});

describe.runIf(process.platform === 'linux')('a whole file system', () => {
  async function callOn(release: string): Promise<unknown> {
    kernel.release = release;
    vi.resetModules();
    const { native } = await import('../../../src/system/native.ts');
    return native === null ? 'no native calls' : native.syncFileSystem;
  }

  test('is asked for in one call where that tells of losses', async () => {
    expect(await callOn('5.8.0')).toBeDefined();
  });

  test('is not where it does not', async () => {
    expect(await callOn('5.7.19')).toBeUndefined();
  });
});
