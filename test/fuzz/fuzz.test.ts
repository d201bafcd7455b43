/** What fuzzing has found stays found, and the harness sees what it looks for. The search itself: npm run test:fuzz. */
// Turn 1 of 8.
import { existsSync, mkdtempSync, readFileSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { runInNewContext } from 'node:vm';
import { afterAll, beforeAll, describe, expect, it, test } from 'vitest';
import { Judge } from './child.ts';
import { withCounters } from './counters.ts';
import { CORPUS, runTarget } from './run.ts';
import { shrink } from './shrink.ts';
import { MOST_MS, type FuzzTarget } from './target.ts';
import { TARGET_NAMES, loadTarget } from './targets/all.ts';

function found(name: string): readonly Buffer[] {
  const directory = join(CORPUS, name);
  if (!existsSync(directory)) return [];
  return readdirSync(directory).map((file) => readFileSync(join(directory, file)));
}

describe.each(TARGET_NAMES)('the target %s', (name) => {
  let target: FuzzTarget;

  beforeAll(async () => {
    target = await loadTarget(name);
  });

  it('takes most of what it begins with', async () => {
    const verdicts = [];
    for (const seed of target.seeds) verdicts.push(await target.run(Buffer.from(seed)));
    expect(verdicts.filter((verdict) => verdict === 'taken').length).toBeGreaterThan(verdicts.length / 2);
  });

  it('does as it should with what once made it fail', async () => {
    for (const input of found(name)) {
      const before = process.cpuUsage();
      await target.run(input);
      const { user, system } = process.cpuUsage(before);
      expect((user + system) / 1_000).toBeLessThan(MOST_MS);
    }
  });
});

test('inputs are kept for targets that there are', () => {
  const known = new Set(TARGET_NAMES);
  expect(readdirSync(CORPUS).filter((name) => name !== 'README.md' && !known.has(name))).toEqual([]);
});

describe('a planted fault', () => {
  const input = Buffer.from([0x48, 0xf1, 0x07, 0x9c]);
  let kept: string;

  beforeAll(() => {
    kept = mkdtempSync(join(tmpdir(), 'holdfast-fuzz-kept-'));
  });
  afterAll(() => rmSync(kept, { recursive: true }));

  it('is found by going from one new block to the next', async () => {
    const { failures, summaries } = await runTarget('planted-crash', {
      seconds: 60,
      seed: 1,
      kept,
      mostFailures: 1,
    });
    expect(failures.map(({ kind }) => kind)).toEqual(['crash']);
    expect(failures[0]?.message).toContain('planted');
    expect(Buffer.from(failures[0]?.input ?? '', 'base64').subarray(0, 4)).toEqual(input);
    // Four bytes by chance take four thousand million.
    expect(summaries[0]?.executions).toBeLessThan(10_000_000);
  });

  it.each([
    ['planted-hang', 'hang'],
    ['planted-memory', 'memory'],
    ['planted-death', 'crash'],
  ])('%s is seen, and its input known', async (name, kind) => {
    using judge = new Judge(name);
    expect(await judge.judge(Buffer.from('nothing'))).toBeUndefined();
    const failure = await judge.judge(input);
    expect(failure?.kind).toBe(kind);
    expect(failure?.input).toBe(input.toString('base64'));
    expect(await judge.judge(Buffer.from('nothing'))).toBeUndefined();
  });
});

test('a failing input is made as short as it can be', async () => {
  const long = Buffer.from('some bytes, then BAD, then more of them');
  const small = await shrink(long, async (input) => await Promise.resolve(input.includes('BAD')), 1_000);
  expect(small.toString()).toBe('BAD');
});

test('counters change nothing but the counts', () => {
  const code = `
    const f = (a) => a > 1 ? 'x' : { y: a && 2 };
    function g(list) {
      let sum = 0;
      for (const one of list) if (one > 0) sum += one; else if (one < -5) continue; else sum -= 1;
      switch (sum) { case 0: return 'none'; case 3: { return 'three'; } default: }
      return sum ?? f;
    }
    return JSON.stringify([f(1), f(2), g([]), g([1, 2]), g([5, -1, -9])]);`;
  const whole = `(() => {${code}})()`;
  const counts = new Uint8ClampedArray(64);
  expect(runInNewContext(withCounters(whole, 'counters('), { counters: () => counts })).toBe(
    runInNewContext(whole),
  );
  expect(counts.filter((count) => count > 0).length).toBeGreaterThan(10);
});
