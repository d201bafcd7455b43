import { mkdirSync, mkdtempSync, realpathSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { type ByteString } from '../../../src/base/byte-path.ts';
import { treePath } from '../../../src/base/tree-path.ts';
import { farPlaceOf } from '../../../src/system/far-mounts.ts';
import { removeTree } from '../../support/remove-tree.ts';

let directory: string;
const at = (name: string): ByteString => treePath(join(directory, name));

function table(...mounts: readonly (readonly [path: string, type: string])[]): string {
  const lines = mounts.map(([path, type], n) => `${30 + n} 1 0:${n} / ${path} rw - ${type} source rw`);
  return ['22 1 8:2 / / rw - ext4 /dev/sda2 rw', ...lines].join('\n');
}

beforeEach(() => {
  directory = realpathSync(mkdtempSync(join(tmpdir(), 'holdfast-far-')));
  mkdirSync(join(directory, 'nas', 'deep'), { recursive: true });
  mkdirSync(join(directory, 'near'));
  symlinkSync('nas/deep', join(directory, 'link'));
  symlinkSync(join(directory, 'link'), join(directory, 'near', 'absolute'));
  symlinkSync('../near/absolute/more', join(directory, 'near', 'twice'));
  symlinkSync('round', join(directory, 'round'));
});
afterEach(() => removeTree(directory));

test('what lies below a mount from elsewhere is there, by whatever way', () => {
  const mounts = table([join(directory, 'nas'), 'nfs4']);
  const place = (path: ByteString): unknown => farPlaceOf(path, mounts)?.path;
  expect(farPlaceOf(at('nas'), mounts)).toEqual({ mount: at('nas'), type: 'nfs4', path: at('nas') });
  expect(place(at('nas/a/b'))).toBe(at('nas/a/b'));
  expect(place(at('link'))).toBe(at('nas/deep'));
  expect(place(at('link/x'))).toBe(at('nas/deep/x'));
  expect(place(at('near/absolute/y'))).toBe(at('nas/deep/y'));
  expect(place(at('near/twice'))).toBe(at('nas/deep/more'));
  expect(place(at('near/../nas'))).toBe(at('nas'));
});

test('what lies on this machine, or nowhere, is not', () => {
  const mounts = table([join(directory, 'nas'), 'fuse.sshfs']);
  for (const name of ['near', 'near/file', 'nothing/below', 'nasty', 'round', 'round/x'])
    expect(farPlaceOf(at(name), mounts), name).toBeUndefined();
  expect(farPlaceOf(at('link'), table([join(directory, 'nas'), 'ext4']))).toBeUndefined();
});

test('the last one mounted at a place counts, and the root of the system does not', () => {
  const nas = join(directory, 'nas');
  expect(farPlaceOf(at('nas'), table([nas, 'nfs'], [nas, 'xfs']))).toBeUndefined();
  expect(farPlaceOf(at('nas'), table([nas, 'autofs']))).toMatchObject({ type: 'autofs' });
  expect(farPlaceOf(at('near'), table(['/', '9p']))).toBeUndefined();
});
