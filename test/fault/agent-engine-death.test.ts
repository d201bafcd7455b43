/** What is left when the engine process or its daemon is killed. */
// Turn 1 of 8.

import { fork } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { compareTrees, shownDifference } from '../support/compare-trees.ts';
import { isAlive } from '../support/is-alive.ts';
import { SOURCE_FLAGS } from '../support/node-flags.ts';
import {
  ENGINE_MAIN,
  completed,
  engineEnvironment,
  openSite,
  startEngine,
  type EngineSite,
} from '../unit/engine/engine-process.ts';
import { startScript } from '../support/run-script.ts';
import { restoredPath } from '../support/restored-path.ts';

let site: EngineSite;

beforeEach(() => {
  site = openSite();
});

afterEach(() => {
  site[Symbol.dispose]();
});

function objects(prefix: string): readonly string[] {
  const directory = join(site.store, prefix);
  if (!existsSync(directory)) return [];
  return readdirSync(directory, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && /^[0-9a-f]/.test(entry.name))
    .map(({ name }) => name);
}

async function until(what: string, test: () => boolean): Promise<void> {
  for (let tries = 0; tries < 600; tries += 1) {
    if (test()) return;
    await delay(50);
  }
  throw new Error(`${what} did not come true`);
}

describe('an engine process that is killed', () => {
  test('leaves what it stored to the next one, which stores little again', async () => {
    // Two packs and more of data that do not compress.
    for (let i = 0; i < 9; i += 1) site.write({ [`file${i}`]: randomBytes(8_000_000) });
    const job = site.job(site.backup(), { destination: { uploadLimit: 20_000_000 } });
    const first = await startEngine();
    const running = first.run(job).catch((error: unknown) => error);
    await until('the first pack is stored', () => objects('packs').length > 0);
    first.child.kill('SIGKILL');
    expect(await running).toBeInstanceOf(Error);
    expect(objects('snapshots')).toEqual([]);

    await using second = await startEngine();
    const again = site.job(site.backup(), { id: job.id });
    const outcome = completed(await second.run(again));
    expect(outcome.files).toBe(9);
    // A pack of 32 MiB at least was there already.
    expect(outcome.progress.bytes_uploaded).toBeLessThan(72_000_000 - 30_000_000);
    const target = join(site.directory, 'target');
    completed(await second.run(site.job(site.restore(outcome.snapshotId ?? '', target))));
    expect(compareTrees(site.source, restoredPath(target, site.source)).map(shownDifference)).toEqual([]);
  });
});

test('a defect fails the job with INTERNAL_ERROR and ends the process', async () => {
  site.write({ 'large.bin': randomBytes(4_000_000) });
  const job = site.job(site.backup(), { destination: { uploadLimit: 50_000 } });
  await using engine = await startEngine();
  const progress = engine.next('progress');
  const running = engine.run(job);
  await progress;
  // No daemon hands over a second job while one runs.
  engine.send({ kind: 'run', job });
  const { last } = await running;
  expect(last).toMatchObject({ kind: 'failed', error: { code: 'INTERNAL_ERROR', details: {} } });
  await until('the process has ended', () => engine.child.exitCode !== null);
  expect(engine.child.exitCode).toBe(1);
});

describe('the death of the daemon', () => {
  test('ends a job at work, and no lease is left', async () => {
    site.write({ 'large.bin': randomBytes(4_000_000) });
    const job = site.job(site.backup(), { destination: { uploadLimit: 50_000 } });
    const daemon = startScript(
      `import { fork } from 'node:child_process';
       const [main, flags, job] = process.argv.slice(2);
       const engine = fork(main, { serialization: 'advanced', execArgv: JSON.parse(flags) });
       engine.on('message', (message) => {
         if (message.kind === 'ready') {
           console.log(message.pid);
           engine.send({ kind: 'run', job: JSON.parse(job) });
         }
         if (message.kind === 'opened') engine.send({ kind: 'remembered' });
       });`,
      { args: [ENGINE_MAIN, JSON.stringify(SOURCE_FLAGS), JSON.stringify(job)] },
    );
    let output = '';
    daemon.stdout?.on('data', (text: Buffer) => {
      output += text.toString();
    });
    await until('the engine works', () => leasesOf().length > 0);
    const pid = Number(output.trim());
    expect(isAlive(pid)).toBe(true);
    daemon.kill('SIGKILL');
    await until('the engine has ended', () => !isAlive(pid));
    expect(leasesOf()).toEqual([]);
    expect(objects('snapshots')).toEqual([]);
  });

  test.each(['has nothing to do', 'is being loaded'])('ends an engine that %s', async (what) => {
    const child = fork(ENGINE_MAIN, {
      serialization: 'advanced',
      env: engineEnvironment(),
      execArgv: [...SOURCE_FLAGS],
    });
    if (what === 'has nothing to do') await new Promise((resolve) => child.once('message', resolve));
    const exited = new Promise<number | null>((resolve) => child.once('exit', resolve));
    child.disconnect();
    expect(await exited).toBe(0);
  });
});

function leasesOf(): readonly string[] {
  const directory = join(site.store, 'leases');
  if (!existsSync(directory)) return [];
  return readdirSync(directory, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map(({ name }) => name);
}
