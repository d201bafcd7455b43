import { readSync, writeSync } from 'node:fs';

export function writeFully(fd: number, bytes: Buffer, position: number): void {
  let done = 0;
  while (done < bytes.length) done += writeSync(fd, bytes, done, bytes.length - done, position + done);
}

/** False when the file ends before `into` is full. */
export function readFully(fd: number, into: Buffer, position: number): boolean {
  for (let done = 0; done < into.length;) {
    const count = readSync(fd, into, done, into.length - done, position + done);
    if (count === 0) return false;
    done += count;
  }
  return true;
}
