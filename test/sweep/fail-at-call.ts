/**
 * Loaded into the program by `--import`: one chosen call to the file system fails, of those that go to given directories
 * or through the native calls. So every call of a command can fail, one after the other, in every way there is.
 */
import fs from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { constants } from 'node:os';
import { join } from 'node:path';
import { isMainThread } from 'node:worker_threads';

/** What is to fail: JSON in SWEEP_FAIL. */
export interface CallPlan {
  /** Counted from 1, in each thread by itself. */
  readonly number: number;
  readonly thread: 'main' | 'worker';
  /** Which of the ways in which that call can fail. */
  readonly way: number;
  /** Absolute paths: what lies there counts. */
  readonly directories: readonly string[];
  /** Calls that do not go through Node's own module count, and those on descriptors that came from them. */
  readonly native: boolean;
  /** A line of JSON is appended here when the call has failed. */
  readonly report: string;
}

/** What did fail. */
export interface FailedCall {
  readonly name: string;
  readonly path: string;
  readonly errno: string;
  /** It did not get better. */
  readonly lasts: boolean;
  /** How many ways there are to fail this call. */
  readonly ways: number;
}

type AnyFunction = (this: unknown, ...args: unknown[]) => unknown;

const LASTING = 'for good';
const READING = ['EIO', 'EACCES', 'ESTALE'];
const WRITING = ['ENOSPC', 'EIO', 'EACCES', `ENOSPC ${LASTING}`, `EROFS ${LASTING}`];
/** By what a name begins with; the first that fits. */
const WAYS: readonly (readonly [RegExp, readonly string[]])[] = [
  [/^close/, ['EIO']],
  [/^(?:f?sync|fsync|fdatasync|datasync)/, ['EIO', 'ENOSPC']],
  [/^(?:open|openat)/, [...READING, 'EMFILE']],
  [/^(?:write|append|mkdir|link|symlink|rename|mknod|copyFile|f?truncate|create)/, WRITING],
  [/^(?:unlink|rm)/, ['EIO', 'EACCES', 'EROFS']],
  [/^(?:f?ch|f?utim|l?utim|lch)/, ['EIO', 'EPERM', 'EROFS']],
  [/^(?:read|stat|lstat|fstat|realpath|access|opendir|list)/, READING],
];

const plan = JSON.parse(process.env['SWEEP_FAIL'] ?? 'null') as CallPlan | null;
const append = fs.appendFileSync.bind(fs);
/** Descriptors and handles of files that count, and descriptors of all others that Node opened. */
const ours = new Set<unknown>();
const others = new Set<unknown>();
let calls = 0;
let lasting: string | undefined;

/** What the call is to fail with. */
function failureOf(name: string, subject: unknown): Error | undefined {
  if (plan === null) return undefined;
  const kind = name.startsWith('open') && creates(subject) ? 'create' : name;
  const ways = WAYS.find(([names]) => names.test(kind))?.[1] ?? READING;
  calls += 1;
  const path = String(Array.isArray(subject) ? subject[0] : subject);
  if (calls === plan.number) {
    const [errno = 'EIO', ...rest] = (ways[plan.way % ways.length] ?? 'EIO').split(' ');
    const lasts = rest.length > 0;
    const failed: FailedCall = { name, path, errno, lasts, ways: ways.length };
    append(plan.report, `${JSON.stringify(failed)}\n`);
    if (lasts) lasting = errno;
    return systemError(errno, name, path);
  }
  return lasting !== undefined && ways === WRITING ? systemError(lasting, name, path) : undefined;
}

function systemError(code: string, syscall: string, path: string): Error {
  const number = constants.errno[code as keyof typeof constants.errno];
  const message = `${code}: planned, ${syscall} '${path}'`;
  return Object.assign(new Error(message), { code, errno: -number, syscall, path });
}

/** Path and flags of an open: `w`, `a` or `x` in them, or O_CREAT. */
function creates(subject: unknown): boolean {
  const flags: unknown = Array.isArray(subject) ? subject[1] : undefined;
  if (typeof flags === 'number') return (flags & fs.constants.O_CREAT) !== 0;
  return typeof flags === 'string' && /[wax]/.test(flags);
}

function counts(subject: unknown): boolean {
  if (plan === null) return false;
  if (typeof subject === 'number') return ours.has(subject) || (plan.native && !others.has(subject));
  if (typeof subject !== 'string' && !Buffer.isBuffer(subject)) return ours.has(subject);
  const path = String(subject);
  return plan.directories.some((directory) => path === directory || path.startsWith(`${directory}/`));
}

function note(opened: unknown, isOurs: boolean): void {
  ours.delete(opened);
  others.delete(opened);
  (isOurs ? ours : others).add(opened);
}

/** A descriptor that could not be closed is closed all the same. */
function hookSync(target: object, name: string): void {
  const original: AnyFunction = Reflect.get(target, name);
  Reflect.set(target, name, function (this: unknown, ...args: unknown[]) {
    const [subject] = args;
    const counted = counts(subject);
    const error = counted ? failureOf(name.replace(/Sync$/, ''), subjectOf(name, args)) : undefined;
    if (error !== undefined && name !== 'closeSync') throw error;
    const result = Reflect.apply(original, this, args);
    if (name === 'openSync') note(result, counted);
    if (error !== undefined) throw error;
    return result;
  });
}

function subjectOf(name: string, args: readonly unknown[]): unknown {
  return name.startsWith('open') ? args.slice(0, 2) : args[0];
}

function hookPromised(target: object, name: string, ofHandle: boolean): void {
  const original: AnyFunction = Reflect.get(target, name);
  Reflect.set(target, name, async function (this: unknown, ...args: unknown[]) {
    const counted = counts(ofHandle ? this : args[0]);
    const error = counted ? failureOf(name, ofHandle ? 'an open file' : subjectOf(name, args)) : undefined;
    if (error !== undefined && name !== 'close') throw error;
    const result = await Reflect.apply(original, this, args);
    if (name === 'open' && !ofHandle) note(result, counted);
    if (error !== undefined) throw error;
    return result;
  });
}

const NATIVE_CALLS = [
  'openat',
  'mkdirat',
  'unlinkat',
  'renameat',
  'symlinkat',
  'linkat',
  'readlinkat',
  'mknodat',
  'fchownat',
  'fchmodat',
  'utimensat',
  'futimens',
  'listDirectory',
  'fstat',
  'lstatat',
];

async function hookNative(): Promise<void> {
  const built = join(import.meta.dirname, '..', '..', 'dist', 'system', 'native.js');
  const { native } = (await import(built)) as { native: object | null };
  if (native === null) return;
  for (const name of NATIVE_CALLS) {
    const original: unknown = Reflect.get(native, name);
    if (typeof original !== 'function') throw new Error(`there is no native call ${name}`);
    Reflect.set(native, name, function (this: unknown, ...args: unknown[]) {
      const subject = name === 'openat' ? args.slice(1, 3) : name === 'listDirectory' ? args[0] : args[1];
      const error = failureOf(name, subject ?? args[0]);
      if (error !== undefined) throw error;
      return Reflect.apply(original, this, args);
    });
  }
}

async function hookAll(): Promise<void> {
  const handle = await fs.promises.open(import.meta.filename, 'r');
  const handles: object = Object.getPrototypeOf(handle);
  await handle.close();
  for (const name of Object.keys(fs)) {
    if (/^(?!exists|_|watch|unwatch|glob|fdatasyncSync$).*Sync$/.test(name)) hookSync(fs, name);
  }
  for (const name of Object.keys(fs.promises)) {
    if (typeof Reflect.get(fs.promises, name) === 'function' && !/^(?:watch|glob)$/.test(name))
      hookPromised(fs.promises, name, false);
  }
  for (const name of [
    'read',
    'write',
    'readFile',
    'writeFile',
    'sync',
    'datasync',
    'stat',
    'truncate',
    'close',
  ])
    hookPromised(handles, name, true);
  if (plan?.native === true) await hookNative();
  syncBuiltinESMExports();
}

if (plan !== null && isMainThread === (plan.thread === 'main')) await hookAll();
