/**
 * Which blocks of the sources run: counters are put into them as they are loaded. V8 counts as well, but telling what
 * changed since the last input takes it longer than the input does.
 */
import { readFileSync } from 'node:fs';
import { registerHooks, stripTypeScriptTypes } from 'node:module';
import { relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { withCounters } from './counters.ts';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const MOST_COUNTERS = 262_144;
const COUNTERS = 'holdfastFuzzCounters';

/** Each stops at 255. */
const counters = new Uint8ClampedArray(MOST_COUNTERS);
const words = new Uint32Array(counters.buffer);
/** For each counter, the amounts seen so far, as in `amountOf`. */
const seen = new Uint8Array(MOST_COUNTERS);
const places = new Map<string, { readonly first: number; readonly count: number }>();
let used = 0;

/** 1, 2, 3, 4-7, 8-15, 16-31, 32-127, 128 and more: a loop that runs once more often is nothing new. */
function amountOf(count: number): number {
  if (count <= 3) return 1 << (count - 1);
  if (count < 8) return 8;
  if (count < 16) return 16;
  if (count < 32) return 32;
  return count < 128 ? 64 : 128;
}

/** To be called before anything that is to be watched is imported. */
export function watchSources(): void {
  Object.assign(globalThis, { [COUNTERS]: countersOf });
  registerHooks({
    load(url, context, next) {
      if (!isWatched(url)) return next(url, context);
      const text = readFileSync(fileURLToPath(url), 'utf8');
      const code = url.endsWith('.ts') ? stripTypeScriptTypes(text) : text;
      const source = withCounters(code, `globalThis.${COUNTERS}(${JSON.stringify(url)},`);
      return { format: 'module', source, shortCircuit: true };
    },
  });
}

function isWatched(url: string): boolean {
  if (!url.startsWith('file:')) return false;
  const path = relative(ROOT, fileURLToPath(url));
  return /^(?:src\/.*|test\/fuzz\/targets\/planted)\.ts$|^node_modules\/cborg\/.*\.js$/.test(path);
}

function countersOf(url: string, count: number): Uint8ClampedArray {
  const first = used;
  used += count;
  if (used > MOST_COUNTERS) throw new Error('There are more blocks than counters.');
  places.set(relative(ROOT, fileURLToPath(url)), { first, count });
  return counters.subarray(first, used);
}

export function clearCounters(): void {
  counters.fill(0, 0, used);
}

/** How many counters show an amount that no input before showed. They are noted as seen. */
export function noteNew(): number {
  let found = 0;
  const end = (used + 3) >> 2;
  for (let word = 0; word < end; word += 1) {
    if (words[word] === 0) continue;
    for (let index = word * 4; index < word * 4 + 4; index += 1) {
      const count = counters[index] ?? 0;
      if (count === 0) continue;
      const amount = amountOf(count);
      if (((seen[index] ?? 0) & amount) !== 0) continue;
      seen[index] = (seen[index] ?? 0) | amount;
      found += 1;
    }
  }
  return found;
}

export interface FileCoverage {
  readonly file: string;
  readonly blocks: number;
  readonly reached: number;
}

/** Blocks of a file that any input reached since it was loaded. */
export function coverageOf(file: string): FileCoverage {
  const place = places.get(file);
  if (place === undefined) throw new Error(`${file} is not loaded: the target does not test it.`);
  const { first, count } = place;
  return {
    file,
    blocks: count,
    reached: seen.subarray(first, first + count).filter((one) => one > 0).length,
  };
}
