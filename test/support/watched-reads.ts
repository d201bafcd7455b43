/** Sees every call by which this process reads the files of a directory, before it is made. */
import fs from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { native } from '../../src/system/native.ts';

/**
 * Told of the path and of how many calls there were of that file before, from 0: open, then its descriptor. What it throws
 * the call fails with; a close is done all the same. Its own calls are not told of.
 */
export type OnRead = (path: string, before: number) => void;

const OF_NODE = ['openSync', 'readSync', 'fstatSync', 'closeSync'];
/** What follows no link is opened by the system's own call, and closed by it. */
const OF_SYSTEM = native?.openWithoutLinks === undefined ? [] : ['openWithoutLinks', 'close'];
const HOOKED: readonly (readonly [object, string])[] = [
  ...OF_NODE.map((name) => [fs, name] as const),
  ...OF_SYSTEM.map((name) => [native ?? {}, name] as const),
];
const OPENS = new Set(['openSync', 'openWithoutLinks']);
const CLOSES = new Set(['closeSync', 'close']);
type AnyFunction = (this: unknown, ...args: unknown[]) => unknown;

export function watchReads(directory: string, onRead: OnRead): Disposable {
  const paths = new Map<number, string>();
  const numbers = new Map<string, number>();
  let isTelling = false;

  const tell = (path: string): unknown => {
    const before = numbers.get(path) ?? 0;
    numbers.set(path, before + 1);
    isTelling = true;
    try {
      onRead(path, before);
      return undefined;
    } catch (error) {
      return error;
    } finally {
      isTelling = false;
    }
  };
  const pathOf = (subject: unknown): string | undefined => {
    if (isTelling) return undefined;
    if (typeof subject === 'number') return paths.get(subject);
    const path = String(subject);
    return path.startsWith(`${directory}/`) ? path : undefined;
  };

  const originals = HOOKED.map(
    ([calls, name]) => [calls, name, Reflect.get(calls, name) as AnyFunction] as const,
  );
  for (const [calls, name, original] of originals) {
    const hooked: AnyFunction = function (...args) {
      const path = pathOf(args[0]);
      const error = path === undefined ? undefined : tell(path);
      if (error !== undefined && !CLOSES.has(name)) throw error;
      const result = Reflect.apply(original, this, args);
      if (OPENS.has(name) && path !== undefined) paths.set(Number(result), path);
      if (CLOSES.has(name)) paths.delete(Number(args[0]));
      if (error !== undefined) throw error;
      return result;
    };
    Reflect.set(calls, name, hooked);
  }
  syncBuiltinESMExports();
  return {
    [Symbol.dispose]() {
      for (const [calls, name, original] of originals) Reflect.set(calls, name, original);
      syncBuiltinESMExports();
    },
  };
}
