/** Returns unused memory that the process would otherwise keep in case it needs it again. */
import { readFileSync } from 'node:fs';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { libc } from './libc.ts';

/**
 * Returns unused memory to the system: that of JavaScript, then that of the C library and of the program file. Takes
 * 0.1 s.
 */
export function returnSpareMemory(): void {
  collect ??= collector();
  // This kind of collection also frees partially filled pages.
  collect({ type: 'major', execution: 'sync', flavor: 'last-resort' });
  calls ??= linuxCalls();
  if (calls === null) return;
  calls.trim?.(0);
  // These pages are reloaded from the file when needed, which is usually in the page cache. If the system refuses,
  // nothing changes.
  for (const { start, end } of cleanPages(readFileSync('/proc/self/smaps', 'latin1'), process.execPath))
    calls.advise(start, end - start, MADV_DONTNEED);
}

const MADV_DONTNEED = 4;

type Collect = (how: Readonly<Record<'type' | 'execution' | 'flavor', string>>) => void;

let collect: Collect | undefined;
let calls: ReturnType<typeof linuxCalls> | undefined;

/** Null on other systems. Not every C library has `malloc_trim`. */
function linuxCalls() {
  if (libc?.platform.system !== 'linux') return null;
  return {
    trim: libc.has('malloc_trim') ? libc.bind('malloc_trim', 'int', ['size_t']) : undefined,
    advise: libc.bind('madvise', 'int', ['address', 'size_t', 'int']),
  };
}

/** The garbage collector runs by itself only while there is work, and not when the most could be returned. */
function collector(): Collect {
  setFlagsFromString('--expose-gc');
  return runInNewContext('gc') as Collect;
}

interface Range {
  readonly start: number;
  readonly end: number;
}

const HEADER = /^([0-9a-f]+)-([0-9a-f]+) (r-[x-]p) [0-9a-f]+ \S+ \d+ +(\/.*)$/;

/**
 * Parts of a program's code and constants that are unchanged from its file, according to the text of
 * `/proc/self/smaps`.
 */
export function cleanPages(smaps: string, program: string): readonly Range[] {
  return smaps.split(/\n(?=[0-9a-f]+-[0-9a-f]+ )/).flatMap((mapping) => {
    const [header = '', ...facts] = mapping.split('\n');
    const [, start = '', end = '', , path] = HEADER.exec(header) ?? [];
    if (path !== program) return [];
    // Pages changed in memory, such as relocated addresses, exist in no file.
    const isChanged = facts.some((fact) => /^(Anonymous|Private_Dirty|Swap): +[1-9]/.test(fact));
    return isChanged ? [] : [{ start: Number.parseInt(start, 16), end: Number.parseInt(end, 16) }];
  });
}
