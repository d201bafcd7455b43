// Turn 8 of 8.
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { expect, test } from 'vitest';
import { exitCodeOf } from '../../src/cli/command/exit-codes.ts';
import { endRun, newRun, runOf, temporaryName } from '../../src/restorer/target/temporary-names.ts';
import { openEngine, type Engine } from '../support/engine.ts';

async function engineWithFiles(): Promise<Engine> {
  const engine = await openEngine();
  for (let i = 0; i < 40; i += 1) {
    mkdirSync(join(engine.source, `d${i % 4}`), { recursive: true });
    writeFileSync(join(engine.source, `d${i % 4}`, `n${i}`), `${i}`);
  }
  return engine;
}

test('a restore into a target where another one is at work says so once, and does nothing', async () => {
  await using engine = await engineWithFiles();
  const { snapshot } = await engine.backup();
  const target = join(engine.directory, 'out');
  mkdirSync(target);
  const other = newRun();
  const hold = join(target, temporaryName(other, 0));
  writeFileSync(hold, '');
  const refused: unknown = await engine.restoreTo('out', snapshot).then(
    () => undefined,
    (error: unknown) => error,
  );
  expect(refused).toMatchObject({
    code: 'TARGET_IN_USE',
    message: `Another restore is at work in ${resolve(target)} (process ${process.pid})`,
  });
  expect(exitCodeOf(refused)).toBe(11);
  expect(readdirSync(target)).toEqual([temporaryName(other, 0)]);

  // One that ends while the next one waits for it is no obstacle.
  setTimeout(() => rmSync(hold), 300);
  const { source, summary } = await engine.restoreTo('out', snapshot);
  endRun(other);
  expect(summary).toMatchObject({ status: 'complete', filesRestored: 40 });
  expect(readFileSync(join(source, 'd1', 'n1'), 'utf8')).toBe('1');
});

test('what a killed restore left in the target is no obstacle, and goes', async () => {
  await using engine = await engineWithFiles();
  const { snapshot } = await engine.backup();
  const target = join(engine.directory, 'out');
  mkdirSync(target);
  writeFileSync(join(target, temporaryName(runOf('4000000-1-0123456789ab'), 0)), '');
  const { summary } = await engine.restoreTo('out', snapshot);
  expect(summary.status).toBe('complete');
  expect(readdirSync(target).filter((name) => name.startsWith('.holdfast-'))).toEqual([]);
});

test.each(['never', 'if_changed', 'always'] as const)(
  'of two restores that begin at once with %s, one waits for the other, and neither has a problem',
  async (overwrite) => {
    await using engine = await engineWithFiles();
    const { snapshot } = await engine.backup();
    const both = await Promise.all([1, 2].map(() => engine.restoreTo('out', snapshot, { overwrite })));
    expect(both.map(({ summary }) => summary.errors)).toEqual([[], []]);
    const written = both.map(({ summary }) => summary.filesRestored).toSorted((a, b) => a - b);
    expect(written).toEqual([0, 40]);
    expect(readdirSync(join(engine.directory, 'out')).filter((name) => name.startsWith('.'))).toEqual([]);
  },
);
