/**
 * Loaded into the program by `--import`: kills its process, as `kill -9` does, immediately before a chosen one of its
 * calls. So every step of a command can be hit, one after the other. Counted are the calls that change a directory of the
 * local file system, or, where SWEEP_KILL_CALLS is `state`, those to SQLite and the synchronous ones that go with them.
 */
import fs from 'node:fs';
import { createRequire, syncBuiltinESMExports } from 'node:module';
import { isMainThread } from 'node:worker_threads';
import type Sqlite from 'better-sqlite3';

const at = Number(process.env['SWEEP_KILL_AT_CALL'] ?? Number.NaN);
const report = process.env['SWEEP_CALLS_FILE'];
/** Nothing behind the last call of which the words say this is counted. */
const until = process.env['SWEEP_CALLS_UNTIL'];
let calls = 0;
let counted = 0;

function count(words: readonly unknown[]): void {
  calls += 1;
  if (calls === at) process.kill(process.pid, 'SIGKILL');
  if (until === undefined || words.some((word) => String(word).includes(until))) counted = calls;
}

type AnyFunction = (this: unknown, ...args: unknown[]) => unknown;

function hook(target: object, name: string, counts: (args: unknown[]) => boolean = () => true): void {
  const original: AnyFunction = Reflect.get(target, name);
  const hooked: AnyFunction = function (...args) {
    if (counts(args)) count(args);
    return Reflect.apply(original, this, args);
  };
  Reflect.set(target, name, hooked);
}

/** `w`, `a` or `x` in the flags, or O_CREAT. */
function creates([, flags]: unknown[]): boolean {
  return typeof flags === 'number' ? (flags & fs.constants.O_CREAT) !== 0 : /[wax]/.test(String(flags));
}

async function hookFiles(): Promise<void> {
  const handle = await fs.promises.open(import.meta.filename, 'r');
  const handles: object = Object.getPrototypeOf(handle);
  await handle.close();
  for (const name of ['write', 'writeFile', 'sync']) hook(handles, name);
  for (const name of ['link', 'rename', 'unlink']) hook(fs.promises, name);
  hook(fs.promises, 'open', creates);
}

function hookState(): void {
  const Database = createRequire(import.meta.url)('better-sqlite3') as typeof Sqlite;
  const probe = new Database(':memory:');
  const statements: object = Object.getPrototypeOf(probe.prepare('SELECT 1'));
  probe.close();
  hook(statements, 'run');
  for (const name of ['exec', 'pragma']) hook(Database.prototype, name);
  for (const name of ['renameSync', 'rmSync', 'chmodSync', 'fsyncSync', 'writeSync', 'ftruncateSync'])
    hook(fs, name);
  hook(fs, 'openSync', creates);
}

if (isMainThread) {
  if (process.env['SWEEP_KILL_CALLS'] === 'state') hookState();
  else await hookFiles();
  syncBuiltinESMExports();
  // A process that the program starts counts nothing of interest, and may be the last to end.
  if (report !== undefined)
    process.on('exit', () => {
      if (until === undefined || counted > 0) fs.writeFileSync(report, String(counted));
    });
}
