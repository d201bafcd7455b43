/** A file system that never answers: FUSE without a program behind it. */
import { spawnSync } from 'node:child_process';
import { closeSync, existsSync, openSync } from 'node:fs';

/** Mounting takes root and /dev/fuse. */
export const canHang = process.getuid?.() === 0 && existsSync('/dev/fuse');

/** Unmounts when it is disposed of; before that whatever touches it waits. */
export class HungMount implements Disposable {
  readonly #path: string;
  readonly #fuse: number;

  constructor(path: string) {
    this.#path = path;
    this.#fuse = openSync('/dev/fuse', 'r+');
    const words = ['-i', '-t', 'fuse', '-o', 'fd=3,rootmode=40000,user_id=0,group_id=0', 'hung', path];
    const { status, stderr } = spawnSync('mount', words, { stdio: ['ignore', 'ignore', 'pipe', this.#fuse] });
    if (status !== 0) throw new Error(`nothing could be mounted: ${String(stderr)}`);
  }

  [Symbol.dispose](): void {
    spawnSync('umount', ['-l', this.#path]);
    closeSync(this.#fuse);
  }
}
