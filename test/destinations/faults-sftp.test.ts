/** Connections to an SSH server that are cut anywhere in a backup, a check or a restore: nothing is lost, and it goes on. */
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { afterAll, expect, test } from 'vitest';
import type { DestinationError } from '../../src/base/errors.ts';
import { withAdaptiveParallelism } from '../../src/destination/open/adaptive.ts';
import { defaultRetryPolicy, withRetry } from '../../src/destination/retry.ts';
import { openSftpDestination } from '../../src/destination/sftp/sftp.ts';
import { SILENT_CHECK } from '../../src/repository/check/check-report.ts';
import { check } from '../../src/repository/check/check.ts';
import { startOpenSsh } from '../servers/open-ssh.ts';
import { startOrSkip } from '../servers/unavailable.ts';
import { never, openEngine } from '../support/engine.ts';
import { lossyProxy } from '../support/lossy-proxy.ts';
import { seededRandom } from '../support/seeded-random.ts';

const TRIALS = 16;

const found = await startOrSkip(startOpenSsh);
if ('missing' in found) test.skip(`OpenSSH was not tested: ${found.missing}`, () => {});
else {
  const { server } = found;
  afterAll(async () => await server.stop());

  test('F14, F17: cuts at any moment are survived, each snapshot is whole, and all data are sound', async () => {
    await using proxy = await lossyProxy(server.port);
    const random = seededRandom(31);
    const failures: DestinationError[] = [];
    const policy = {
      ...defaultRetryPolicy,
      firstDelayMs: 20,
      maxDelayMs: 100,
      random: random.next,
      onRetry: (error: DestinationError) => void failures.push(error),
    };
    const place = { ...server.place('cuts'), port: proxy.port };
    const opened = await openSftpDestination(place, server.access, { create: true });
    await using engine = await openEngine({
      destination: withRetry(withAdaptiveParallelism(opened), policy),
    });
    let cuts = 0;
    /** Runs it, and cuts the line after so many bytes and again. */
    const cutting = async <T>(run: Promise<T>, everyBytes: number): Promise<T> => {
      const state = { isOver: false };
      const over = run.finally(() => (state.isOver = true));
      over.catch(() => {});
      for (let next = proxy.passed + everyBytes, left = 3; !state.isOver && left > 0; await nextTurn()) {
        if (proxy.passed < next) continue;
        proxy.cut();
        cuts += 1;
        left -= 1;
        next = proxy.passed + everyBytes;
      }
      return await over;
    };
    const damageIn = async (): Promise<readonly string[]> => {
      const { findings } = await check(
        engine.repository,
        { readData: 'all', workers: 0 },
        SILENT_CHECK,
        never,
      );
      return findings
        .filter(({ severity }) => severity === 'error')
        .map(({ object, what }) => `${object}: ${what}`);
    };
    for (let trial = 0; trial < TRIALS; trial += 1) {
      const here = join(engine.source, `round-${trial % 3}`);
      rmSync(here, { recursive: true, force: true });
      mkdirSync(here);
      for (let index = 0; index < 4; index += 1)
        writeFileSync(join(here, `file-${index}`), random.bytes(300_000));
      const everyBytes = 2_000 + random.below(500_000);
      const { snapshot } = await cutting(engine.backup(), everyBytes);
      expect(snapshot.record.status).toBe('complete');
      expect(await cutting(engine.differences(snapshot), everyBytes)).toEqual([]);
      expect(await engine.snapshots()).toHaveLength(trial + 1);
      if (trial % 5 === 4) expect(await cutting(damageIn(), everyBytes)).toEqual([]);
    }
    expect(await damageIn()).toEqual([]);
    expect(cuts).toBeGreaterThan(TRIALS);
    expect(failures.length).toBeGreaterThan(TRIALS / 2);
    expect(failures.map(({ kind }) => kind)).toEqual(failures.map(() => 'unreachable'));
    console.info(`SFTP: ${TRIALS} trials, ${cuts} cuts, ${failures.length} calls made again`);
  });
}
