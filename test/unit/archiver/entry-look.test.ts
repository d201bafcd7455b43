import { describe, expect, test } from 'vitest';
import { isLeftOutUnseen, lookAt } from '../../../src/archiver/walk/entry-look.ts';
import { createExcluder, NO_EXCLUSIONS, type DirectoryScope } from '../../../src/exclude/excluder.ts';
import { SILENT } from '../../../src/archiver/report/observer.ts';
import { Tally } from '../../../src/archiver/report/tally.ts';
import { bytesOfText } from '../../../src/base/byte-path.ts';
import { treePath } from '../../../src/base/tree-path.ts';

function scopeOf(root: string, patterns: readonly string[], oneFileSystem = false): DirectoryScope {
  const excluder = createExcluder(
    {
      ...NO_EXCLUSIONS,
      patterns: patterns.map((pattern) => ({ pattern: bytesOfText(pattern), from: 'test' })),
      oneFileSystem,
    },
    { root: treePath(root), kind: 'directory', device: 1 },
    { read: () => undefined, onError: () => {} },
  );
  return excluder.enterDirectory(undefined, treePath(root), []);
}

describe('an entry that nobody may look at', () => {
  const look = (): never => {
    throw Object.assign(new Error('permission denied'), { code: 'EACCES' });
  };

  test('is a problem, unless the rules leave it out whatever it is', () => {
    const path = bytesOfText('/source/doc');
    const tally = new Tally(SILENT);
    lookAt({ path, look, scope: scopeOf('/source', ['doc']) }, tally);
    expect(tally.problems).toEqual([]);
    for (const scope of [scopeOf('/source', ['other']), scopeOf('/source', ['doc/']), undefined])
      lookAt({ path, look, scope }, tally);
    expect(tally.problems.map(({ code }) => code)).toEqual(['EACCES', 'EACCES', 'EACCES']);
  });

  // Something is mounted at /proc on each Linux.
  test.runIf(process.platform === 'linux')('is a directory on another device where it is mounted', () => {
    const path = bytesOfText('/proc');
    expect(isLeftOutUnseen(path, scopeOf('/', ['proc/']))).toBe(true);
    expect(isLeftOutUnseen(path, scopeOf('/', [], true))).toBe(true);
    expect(isLeftOutUnseen(path, scopeOf('/', []))).toBe(false);
  });
});
