/**
 * Loaded into the program by `--import`: kills its process, as `kill -9` does, immediately before a chosen one of the
 * calls that change a directory of the local file system. So every step of a command can be hit, one after the other.
 */
import fs from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { isMainThread } from 'node:worker_threads';

const at = Number(process.env['SWEEP_KILL_AT_CALL'] ?? Number.NaN);
const report = process.env['SWEEP_CALLS_FILE'];
let calls = 0;

function count(): void {
  calls += 1;
  if (calls === at) process.kill(process.pid, 'SIGKILL');
}

type AnyFunction = (this: unknown, ...args: unknown[]) => unknown;

function hook(target: object, name: string, counts: (args: unknown[]) => boolean): void {
  const original: AnyFunction = Reflect.get(target, name);
  const hooked: AnyFunction = function (...args) {
    if (counts(args)) count();
    return Reflect.apply(original, this, args);
  };
  Reflect.set(target, name, hooked);
}

/** `w`, `a` or `x` in the flags, or O_CREAT. */
function creates([, flags]: unknown[]): boolean {
  return typeof flags === 'number' ? (flags & fs.constants.O_CREAT) !== 0 : /[wax]/.test(String(flags));
}

if (isMainThread) {
  const handle = await fs.promises.open(import.meta.filename, 'r');
  const handles: object = Object.getPrototypeOf(handle);
  await handle.close();
  for (const name of ['write', 'writeFile', 'sync']) hook(handles, name, () => true);
  for (const name of ['link', 'rename', 'unlink']) hook(fs.promises, name, () => true);
  hook(fs.promises, 'open', creates);
  syncBuiltinESMExports();
  if (report !== undefined) process.on('exit', () => fs.writeFileSync(report, String(calls)));
}
