/**
 * Sets the process name that `ps` and `top` show: Node.js names its main thread, and thereby the process, "MainThread".
 */
import { writeFileSync } from 'node:fs';

/** @param name at most 15 bytes; the command line stays unchanged */
export function nameProcess(name: string): void {
  if (process.platform !== 'linux') return;
  try {
    writeFileSync('/proc/self/comm', name);
  } catch {
    // Without /proc the name stays unchanged.
  }
}
