/** Sees every call by which this process reads the files of a directory, before it is made. */
import fs from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';

/**
 * Told of the path and of how many calls there were of that file before, from 0: open, then its descriptor. What it throws
 * the call fails with; a close is done all the same. Its own calls are not told of.
 */
export type OnRead = (path: string, before: number) => void;

const HOOKED = ['openSync', 'readSync', 'fstatSync', 'closeSync'] as const;
type AnyFunction = (this: unknown, ...args: unknown[]) => unknown;

export function watchReads(directory: string, onRead: OnRead): Disposable {
  const paths = new Map<number, string>();
  const calls = new Map<string, number>();
  let isTelling = false;

  const tell = (path: string): unknown => {
    const before = calls.get(path) ?? 0;
    calls.set(path, before + 1);
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

  const originals = HOOKED.map((name) => [name, Reflect.get(fs, name) as AnyFunction] as const);
  for (const [name, original] of originals) {
    const hooked: AnyFunction = function (...args) {
      const path = pathOf(args[0]);
      const error = path === undefined ? undefined : tell(path);
      if (error !== undefined && name !== 'closeSync') throw error;
      const result = Reflect.apply(original, this, args);
      if (name === 'openSync' && path !== undefined) paths.set(Number(result), path);
      if (name === 'closeSync') paths.delete(Number(args[0]));
      if (error !== undefined) throw error;
      return result;
    };
    Reflect.set(fs, name, hooked);
  }
  syncBuiltinESMExports();
  return {
    [Symbol.dispose]() {
      for (const [name, original] of originals) Reflect.set(fs, name, original);
      syncBuiltinESMExports();
    },
  };
}
