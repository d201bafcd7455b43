/** A pass whose second far destination is fifty times slower than the source: what waits for it stays bounded. */
import { execFileSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { chmodSync, mkdirSync, readFileSync, readdirSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, expect, test } from 'vitest';
import type { Job } from '../../src/jobs/job.ts';
import { startMoto } from '../servers/moto.ts';
import { startOrSkip } from '../servers/unavailable.ts';
import { eventually, openDaemonSite, type DaemonSite } from '../support/daemon-site.ts';
import { makeBucket } from '../support/s3-bucket.ts';
import { slowProxy } from '../support/slow-proxy.ts';
import { namesBelow } from '../support/names-below.ts';

const MIB = 1024 ** 2;
const SOURCE = 192 * MIB;
/** A fiftieth of what a machine of today reads and seals: 200 MiB a second. */
const SLOW = 4 * MIB;
/** Where the spool lies: it may have a tenth. */
const DISK = 400 * MIB;
const LIMIT_MIB = 450;
const HALF_AN_HOUR = 1_800_000;

/** Most memory of each process that this one has started, MiB. */
function peaks(): readonly number[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .flatMap((pid) => {
      try {
        const status = readFileSync(`/proc/${pid}/status`, 'latin1');
        if (Number(/PPid:\s+(\d+)/.exec(status)?.[1]) !== process.pid) return [];
        return [Number(/VmHWM:\s+(\d+) kB/.exec(status)?.[1] ?? 0) / 1024];
      } catch {
        // It has just ended.
        return [];
      }
    });
}

function bytesBelow(directory: string): number {
  return namesBelow(directory).reduce((sum, name) => {
    const stat = statSync(join(directory, name), { throwIfNoEntry: false });
    return sum + (stat?.isFile() === true ? stat.size : 0);
  }, 0);
}

function secretFile(site: DaemonSite, name: string, text: string): string {
  const file = join(site.directory, name);
  writeFileSync(file, `${text}\n`);
  chmodSync(file, 0o600);
  return file;
}

const moto = await startOrSkip(startMoto);
if ('missing' in moto) test.skip(`moto was not tested: ${moto.missing}`, () => {});
else {
  const { server } = moto;
  afterAll(async () => await server[Symbol.asyncDispose]());
  await makeBucket(server, 'passes');

  test('memory and spool stay bounded, and the fast one is not held up', async (context) => {
    const site = await openDaemonSite();
    const spool = join(site.state, 'spool');
    mkdirSync(spool, { recursive: true });
    try {
      execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${DISK}`, 'tmpfs', spool], { stdio: 'pipe' });
    } catch {
      await site[Symbol.asyncDispose]();
      context.skip('a file system cannot be mounted here');
    }
    try {
      await using slow = await slowProxy(Number(new URL(server.endpoint).port), SLOW);
      for (let index = 0; index < SOURCE / (3 * MIB); index += 1)
        site.write({ [`file-${index}`]: randomBytes(3 * MIB) });
      const { accessKeyId, secretAccessKey } = server;
      const at = (name: string, endpoint: string): object => ({
        url: `s3://passes/${name}?endpoint=${endpoint}`,
        passphrase: { file: secretFile(site, 'passphrase', 'correct horse battery staple') },
        access: { s3: { accessKeyId, secretAccessKey: { file: secretFile(site, 'key', secretAccessKey) } } },
      });
      await site.configure({
        sources: [{ path: site.source, destinations: ['fast', 'slow'], schedule: 'every 4h', watch: false }],
        destinations: {
          fast: at('fast', server.endpoint),
          slow: at('slow', `http://127.0.0.1:${slow.port}`),
        },
        defaultDestination: 'fast',
        maintenance: { jitter: '0s', prune: 'off', check: 'off', drill: 'off' },
      });
      const jobs = await eventually(() => {
        const found = site.jobs('backup');
        return found.length === 2 ? found : undefined;
      }, 'a pass');
      let [peakMib, spooled] = [0, 0];
      const current = (): readonly (Job | undefined)[] => jobs.map(({ id }) => site.agent.job(id));
      const endMs = performance.now() + HALF_AN_HOUR;
      for (; current().some((job) => job?.finished_at === null) && performance.now() < endMs;) {
        peakMib = Math.max(peakMib, ...peaks());
        spooled = Math.max(spooled, bytesBelow(spool));
        await delay(100);
      }
      const ended = current();
      for (const job of ended) expect(job).toMatchObject({ status: 'completed', error: null });
      const [fast, late] = ['fast', 'slow'].map((name) =>
        ended.find((job) => job?.spec.destination === name),
      );
      console.info(
        JSON.stringify({
          peakMib: Math.round(peakMib),
          spooledMib: Math.round(spooled / MIB),
          fastMs: fast?.duration_ms,
          slowMs: late?.duration_ms,
        }),
      );
      expect(slow.sent).toBeGreaterThan(SOURCE);
      // It was the destination that was waited for, and the other one did not wait.
      expect(late?.duration_ms).toBeGreaterThan((SOURCE / SLOW) * 800);
      expect(fast?.duration_ms).toBeLessThan((late?.duration_ms ?? 0) * 0.8);
      expect(spooled).toBeGreaterThan(0);
      expect(spooled).toBeLessThanOrEqual(DISK / 10);
      expect(peakMib).toBeLessThan(LIMIT_MIB);
    } finally {
      await site.daemon[Symbol.asyncDispose]();
      execFileSync('umount', [spool]);
      await site[Symbol.asyncDispose]();
    }
  });
}
