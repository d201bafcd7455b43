/** Ends a process of Windows with all that it started: there are no process groups, and ending a shell ends it alone. */
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';

/** Milliseconds. */
const PATIENCE_MS = 5_000;

/** The program of Windows that does it, with its words. By its full path: a directory of the search path may have another. */
export function endTreeCommand(
  pid: number,
  systemRoot = process.env['SystemRoot'] ?? String.raw`C:\Windows`,
): readonly [program: string, words: readonly string[]] {
  return [join(systemRoot, 'System32', 'taskkill.exe'), ['/T', '/F', '/PID', String(pid)]];
}

/** Does nothing when the process has ended already. */
export function endTree(pid: number): void {
  const [program, words] = endTreeCommand(pid);
  spawnSync(program, words, { stdio: 'ignore', windowsHide: true, timeout: PATIENCE_MS });
}
