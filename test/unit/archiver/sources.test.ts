import { tmpdir } from 'node:os';
import { expect, it } from 'vitest';
import { resolveSources } from '../../../src/archiver/sources.ts';
import { SourceError } from '../../../src/base/errors.ts';

it.runIf(process.platform === 'linux').each(['/proc', '/proc/self/', '/sys/kernel'])(
  'the source %s is refused: the kernel makes up what is read there',
  (path) => {
    for (const named of [[path], [tmpdir(), path]]) {
      const resolving = (): unknown => resolveSources(named, '/', []);
      expect(resolving).toThrow(SourceError);
      expect(resolving).toThrow(/lies on a file system of the kernel \((proc|sysfs)\)/);
    }
  },
);
