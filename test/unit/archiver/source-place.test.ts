import { mkdirSync, mkdtempSync, renameSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { SourcePlace } from '../../../src/archiver/source/place.ts';
import { statPath } from '../../../src/archiver/source/stat.ts';
import { bytesOfText } from '../../../src/base/byte-path.ts';
import { treePath } from '../../../src/base/tree-path.ts';
import { native } from '../../../src/system/native.ts';

function directoryWith(...names: readonly string[]): string {
  const directory = mkdtempSync(join(tmpdir(), 'holdfast-place-'));
  onTestFinished(() => {
    vi.restoreAllMocks();
    rmSync(directory, { recursive: true });
  });
  for (const name of names) mkdirSync(join(directory, name));
  return directory;
}

describe('a directory of a source, held open', () => {
  test.skipIf(native === null)('is asked once when it refuses', () => {
    const directory = directoryWith('one', 'two');
    using place = new SourcePlace(treePath(directory), undefined);
    const refusal = Object.assign(new Error('EACCES: planned'), { code: 'EACCES', syscall: 'openat2' });
    if (native === null) return;
    const looking = vi.spyOn(native, 'lstatat');
    looking.mockImplementation(() => {
      throw refusal;
    });
    for (const name of ['one', 'two'])
      expect(() => place.stat(bytesOfText(name))).toThrow(expect.objectContaining({ code: 'EACCES' }));
    expect(looking).toHaveBeenCalledTimes(1);
  });

  test('shows nothing of another one that took its place', () => {
    const directory = directoryWith('theirs', 'theirs/below', 'other', 'other/below');
    const path = treePath(join(directory, 'theirs'));
    using place = new SourcePlace(path, statPath(path));
    renameSync(join(directory, 'theirs'), join(directory, 'away'));
    renameSync(join(directory, 'other'), join(directory, 'theirs'));
    for (const look of [() => place.itself(), () => place.stat(bytesOfText('below'))])
      expect(look).toThrow(expect.objectContaining({ code: 'REPLACED' }));
  });
});
