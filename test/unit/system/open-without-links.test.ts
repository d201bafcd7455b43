import { mkdirSync, mkdtempSync, readSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { constants, tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { asByteString } from '../../../src/base/byte-path.ts';
import { treePath } from '../../../src/base/tree-path.ts';
import { native } from '../../../src/system/native.ts';
import { systemError } from '../../../src/system/libc.ts';

const open = native?.openWithoutLinks;

describe.runIf(open !== undefined)('opening without links', () => {
  function newPlace(): string {
    const place = mkdtempSync(join(tmpdir(), 'holdfast-open-'));
    onTestFinished(() => rmSync(place, { recursive: true }));
    mkdirSync(join(place, 'real'));
    writeFileSync(join(place, 'real', 'file'), 'content');
    return place;
  }

  it('opens what lies where its path says', () => {
    const place = newPlace();
    const fd = open?.(treePath(join(place, 'real', 'file')), 0) ?? -1;
    const bytes = Buffer.alloc(20);
    expect(bytes.toString('utf8', 0, readSync(fd, bytes, 0, 20, 0))).toBe('content');
    native?.close(fd);
  });

  it.each(['link/file', 'real/link'])('refuses %s, where a part is a link', (path) => {
    const place = newPlace();
    symlinkSync(join(place, 'real'), join(place, 'link'));
    symlinkSync(join(place, 'real', 'file'), join(place, 'real', 'link'));
    const name = treePath(join(place, path));
    expect(() => open?.(name, 0)).toThrow(systemError('openat2', constants.errno.ELOOP, name));
  });

  it('takes names that are not UTF-8', () => {
    const place = newPlace();
    const name = asByteString(`${place}/\u00ff`);
    expect(() => open?.(name, 0)).toThrow(systemError('openat2', constants.errno.ENOENT, name));
  });
});
