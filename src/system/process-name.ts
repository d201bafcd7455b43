/** What `ps` and `top` call this process: Node.js names its first thread, and with it the process, "MainThread". */
import { writeFileSync } from 'node:fs';

/** @param name of at most 15 bytes; the command line stays as it is */
export function nameProcess(name: string): void {
  if (process.platform !== 'linux') return;
  try {
    writeFileSync('/proc/self/comm', name);
  } catch {
    // Without /proc it keeps the name that it has.
  }
}
