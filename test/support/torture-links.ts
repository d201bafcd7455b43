/** Torture tree: hard links, symbolic links, special files. */

import { linkSync, lstatSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { asByteString, bytesOfText, joinBytes } from '../../src/base/byte-path.ts';
import { fsPath } from '../../src/base/tree-path.ts';
import type { ByteString } from '../../src/base/byte-path.ts';
import { makeSpecial } from './libc.ts';
import type { SpecialKind } from './libc.ts';
import { NotAllowedHere } from './torture-site.ts';
import type { TortureSite } from './torture-site.ts';

export function makeLinks(site: TortureSite): void {
  for (const name of ['a', 'b', 'c']) mkdirSync(fsPath(joinBytes(site.directory, bytesOfText(name))));
  const below = (name: string): ByteString => joinBytes(site.directory, bytesOfText(name));

  site.make(bytesOfText('b/three-names'), 'file with three names in three directories', (path) => {
    writeFileSync(fsPath(path), 'one inode, three names\n', { flag: 'wx' });
    linkSync(fsPath(path), fsPath(below('a/first-seen')));
    linkSync(fsPath(path), fsPath(below('c/last-seen')));
  });
  site.make(bytesOfText('a/empty-linked'), 'empty file with two names in one directory', (path) => {
    writeFileSync(fsPath(path), '', { flag: 'wx' });
    linkSync(fsPath(path), fsPath(below('a/empty-linked-too')));
  });
  site.make(bytesOfText('a/linked-symlink'), 'symbolic link whose inode has two names', (path) => {
    symlinkSync('../b/three-names', fsPath(path));
    linkSync(fsPath(path), fsPath(below('c/linked-symlink-too')));
    if (!lstatSync(fsPath(below('c/linked-symlink-too'))).isSymbolicLink())
      throw new NotAllowedHere('link(2) follows symbolic links here');
  });
  site.make(bytesOfText('a/linked-fifo'), 'FIFO with two names', (path) => {
    makeSpecial(path, 'fifo', 0o600);
    linkSync(fsPath(path), fsPath(below('b/linked-fifo-too')));
  });

  const target = (name: string, what: string, to: ByteString): void => {
    site.make(bytesOfText(name), what, (path) => {
      symlinkSync(fsPath(to), fsPath(path));
    });
  };
  target('relative', 'symbolic link, relative', bytesOfText('a/first-seen'));
  target('absolute', 'symbolic link, absolute', bytesOfText('/etc/hostname'));
  target('upwards', 'symbolic link to the parent', bytesOfText('..'));
  target('to-directory', 'symbolic link to a directory', bytesOfText('b'));
  target('trailing-slash', 'symbolic link with a trailing slash', bytesOfText('b/'));
  target('dangling', 'symbolic link to nothing', bytesOfText('not/there'));
  target('itself', 'symbolic link to itself', bytesOfText('itself'));
  target('loop-one', 'symbolic link, loop of two', bytesOfText('loop-two'));
  target('loop-two', 'symbolic link, loop of two', bytesOfText('loop-one'));
  target('long-target', 'symbolic link with a target of 4,000 bytes', bytesOfText('long/'.repeat(800)));
  target('bytes-target', 'symbolic link, target not UTF-8', asByteString('caf\u00e9/\u00ff\u00fe'));
  target('newline-target', 'symbolic link, newline in the target', bytesOfText('two\nlines'));
}

export function makeSpecialFiles(site: TortureSite): void {
  const special = (name: string, what: string, kind: SpecialKind, major = 0, minor = 0): void => {
    site.make(bytesOfText(name), what, (path) => {
      makeSpecial(path, kind, 0o640, major, minor);
    });
  };
  special('fifo', 'FIFO', 'fifo');
  special('socket', 'socket', 'socket');
  special('character-device', 'character device 1:3', 'character-device', 1, 3);
  special('block-device', 'block device 7:7', 'block-device', 7, 7);
  special('large-numbers', 'character device with numbers above 255', 'character-device', 1234, 0x1_2345);
}
