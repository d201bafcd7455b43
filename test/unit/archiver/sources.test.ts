import { mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { resolveSources } from '../../../src/archiver/source/sources.ts';
import { treePath } from '../../../src/base/tree-path.ts';
import { SourceError } from '../../../src/base/errors.ts';
import { realPath } from '../../../src/base/typed-path.ts';

it.runIf(process.platform === 'linux').each(['/proc', '/proc/self/', '/sys/kernel'])(
  'the source %s is refused: the kernel makes up what is read there',
  (path) => {
    for (const named of [[path], [tmpdir(), path]]) {
      const resolving = (): unknown => resolveSources(named, '/', []);
      expect(resolving).toThrow(SourceError);
      expect(resolving).toThrow(/is on a file system of the kernel \((proc|sysfs)\)/);
    }
  },
);

it.runIf(process.platform !== 'win32')(
  'a source that cannot be looked at costs no other one, and alone is told of',
  () => {
    const directory = mkdtempSync(join(realPath(tmpdir()), 'holdfast-sources-'));
    onTestFinished(() => rmSync(directory, { recursive: true }));
    writeFileSync(join(directory, 'file'), '');
    symlinkSync('loop', join(directory, 'loop'));
    const barred = {
      'file/x': 'does not exist',
      'file/x/': 'does not exist',
      'loop/x': 'cannot be read: a symbolic link is in the way (ELOOP)',
      ['n'.repeat(300)]: 'cannot be read: the path is too long (ENAMETOOLONG)',
    };
    for (const [name, told] of Object.entries(barred)) {
      const { paths } = resolveSources([name, 'file'], directory, []);
      expect(paths).toContain(treePath(join(directory, 'file')));
      expect(paths).toHaveLength(2);
      const alone = (): unknown => resolveSources([name], directory, []);
      expect(alone).toThrow(SourceError);
      expect(alone).toThrow(told);
    }
    expect(() => resolveSources(['nothing', 'loop/x'], directory, [])).toThrow(
      'loop/x cannot be read: a symbolic link is in the way (ELOOP)',
    );
  },
);

it.runIf(process.platform !== 'win32')(
  'a device by its name alone is stored as a name, and with a slash refused',
  () => {
    const { paths, notes } = resolveSources(['/dev/null'], '/', []);
    expect(paths).toEqual(['/dev/null']);
    expect(notes.join()).toContain('/dev/null is a device: only its name');
    for (const named of [['/dev/null/'], [tmpdir(), '/dev/null/']])
      expect(() => resolveSources(named, '/', [])).toThrow(
        '/dev/null is a device, neither a file nor a directory',
      );
  },
);
