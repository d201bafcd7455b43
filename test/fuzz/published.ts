/** The input at work, in a file: it outlives the process that it may end. */
import { readFileSync, writeSync } from 'node:fs';

/** Length, then bytes: in one call, so that whoever reads it after a death finds both. */
export function publish(file: number, input: Buffer): void {
  const head = Buffer.alloc(4);
  head.writeUInt32LE(input.length);
  writeSync(file, Buffer.concat([head, input]), 0, input.length + 4, 0);
}

/** What `publish` wrote last. */
export function published(path: string): Buffer {
  const bytes = readFileSync(path);
  return bytes.length < 4 ? Buffer.alloc(0) : bytes.subarray(4, 4 + bytes.readUInt32LE(0));
}
