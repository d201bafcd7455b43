/** Memory that nobody needs any more and that is kept all the same, as programs do in case they need it again. */
import { readFileSync } from 'node:fs';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { libc } from './libc.ts';

/** Gives it back to the system: what JavaScript holds, then what the C library and the program itself do. Takes 0.1 s. */
export function returnSpareMemory(): void {
  collect ??= collector();
  // Also what fills a page of memory by a part only.
  collect({ type: 'major', execution: 'sync', flavor: 'last-resort' });
  calls ??= linuxCalls();
  if (calls === null) return;
  calls.trim?.(0);
  // What is needed again comes back from the file, which mostly is in memory anyway. When the system says no, it stays.
  for (const { start, end } of cleanPages(readFileSync('/proc/self/smaps', 'latin1'), process.execPath))
    calls.advise(start, end - start, MADV_DONTNEED);
}

const MADV_DONTNEED = 4;

type Collect = (how: Readonly<Record<'type' | 'execution' | 'flavor', string>>) => void;

let collect: Collect | undefined;
let calls: ReturnType<typeof linuxCalls> | undefined;

/** Null on other systems. Not every C library gives memory back when asked to. */
function linuxCalls() {
  if (libc?.platform.system !== 'linux') return null;
  return {
    trim: libc.has('malloc_trim') ? libc.bind('malloc_trim', 'int', ['size_t']) : undefined,
    advise: libc.bind('madvise', 'int', ['address', 'size_t', 'int']),
  };
}

/** The collector works by itself only while there is something to do, which is not when the most can be given back. */
function collector(): Collect {
  setFlagsFromString('--expose-gc');
  return runInNewContext('gc') as Collect;
}

interface Range {
  readonly start: number;
  readonly end: number;
}

const HEADER = /^([0-9a-f]+)-([0-9a-f]+) (r-[x-]p) [0-9a-f]+ \S+ \d+ +(\/.*)$/;

/** Where a program's code and constants lie in memory as they are in its file, from the text of `/proc/self/smaps`. */
export function cleanPages(smaps: string, program: string): readonly Range[] {
  return smaps.split(/\n(?=[0-9a-f]+-[0-9a-f]+ )/).flatMap((mapping) => {
    const [header = '', ...facts] = mapping.split('\n');
    const [, start = '', end = '', , path] = HEADER.exec(header) ?? [];
    if (path !== program) return [];
    // Changed in memory, as addresses are when the program is loaded: that is in no file.
    const isChanged = facts.some((fact) => /^(Anonymous|Private_Dirty|Swap): +[1-9]/.test(fact));
    return isChanged ? [] : [{ start: Number.parseInt(start, 16), end: Number.parseInt(end, 16) }];
  });
}
