/** A destination fifty times slower than the source: the program waits, and does not pile up what it has read. */
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { readFileSync, statSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, describe, expect, test } from 'vitest';
import { startMoto } from '../servers/moto.ts';
import { startOpenSsh } from '../servers/open-ssh.ts';
import { startOrSkip } from '../servers/unavailable.ts';
import { openPlace, type Place } from '../support/cli.ts';
import { makeBucket } from '../support/s3-bucket.ts';
import { seededRandom } from '../support/seeded-random.ts';
import { slowProxy } from '../support/slow-proxy.ts';
import { namesBelow } from '../support/names-below.ts';

const MIB = 1024 ** 2;
const LIMIT_MIB = 450;
const SMALL = 64 * MIB;
const LARGE = 192 * MIB;
/** A fiftieth of what a machine of today reads and seals: 200 MiB a second. */
const SLOW = 4 * MIB;

interface Run {
  /** Most memory of the process at any time, MiB. */
  readonly peakMib: number;
  /** Most bytes on disk in the state directory at any time, MiB. */
  readonly stateMib: number;
  readonly seconds: number;
}

/** Files of some megabytes that do not compress. */
async function fill(place: Place, bytes: number, seed: number): Promise<string> {
  const source = join(place.directory, `source-${seed}`);
  await mkdir(source);
  const random = seededRandom(seed);
  const size = 3 * MIB;
  for (let at = 0, index = 0; at < bytes; at += size, index += 1)
    await writeFile(join(source, `file-${index}`), random.bytes(Math.min(size, bytes - at)));
  return source;
}

async function backUp(place: Place, source: string, env: Readonly<Record<string, string>>): Promise<Run> {
  const child = place.start(['backup', source], { env });
  child.stdin?.end();
  let errors = '';
  child.stdout?.resume();
  child.stderr?.on('data', (bytes: Buffer) => (errors += bytes.toString()));
  const ended = once(child, 'close') as Promise<[number | null]>;
  const began = performance.now();
  let [peakKib, stateBytes] = [0, 0];
  while (child.exitCode === null && child.signalCode === null) {
    peakKib = Math.max(peakKib, peakOf(child.pid ?? 0));
    stateBytes = Math.max(stateBytes, bytesBelow(place.state));
    await Promise.race([delay(100), ended]);
  }
  const [code] = await ended;
  expect(code, errors).toBe(0);
  return {
    peakMib: Math.round(peakKib / 1024),
    stateMib: Math.round(stateBytes / MIB),
    seconds: Math.round((performance.now() - began) / 100) / 10,
  };
}

/** The kernel keeps it: no look in between is missed but the last. */
function peakOf(pid: number): number {
  try {
    return Number(/VmHWM:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, 'latin1'))?.[1] ?? 0);
  } catch {
    // It has just ended.
    return 0;
  }
}

function bytesBelow(directory: string): number {
  let names: readonly string[];
  try {
    names = namesBelow(directory);
  } catch {
    return 0;
  }
  return names.reduce((sum, name) => {
    const stat = statSync(join(directory, name), { throwIfNoEntry: false });
    return sum + (stat?.isFile() === true ? stat.size : 0);
  }, 0);
}

interface Reached {
  location(port: number, name: string): string;
  readonly variables: Readonly<Record<string, string>>;
  readonly port: number;
  stop(): Promise<void>;
}

async function overS3(): Promise<Reached> {
  const server = await startMoto();
  await makeBucket(server, 'slow');
  return {
    location: (port, name) => `s3://slow/${name}?endpoint=http://127.0.0.1:${port}`,
    variables: { AWS_ACCESS_KEY_ID: server.accessKeyId, AWS_SECRET_ACCESS_KEY: server.secretAccessKey },
    port: Number(new URL(server.endpoint).port),
    stop: async () => await server[Symbol.asyncDispose](),
  };
}

async function overSftp(): Promise<Reached> {
  const { access, data, port, stop, user } = await startOpenSsh();
  return {
    location: (near, name) => `sftp://${user}@127.0.0.1:${near}${data}/${name}`,
    variables: {
      HOLDFAST_SFTP_KEY_FILE: access.keyFile ?? '',
      HOLDFAST_SFTP_HOST_KEY_FILE: access.hostKeyFile ?? '',
    },
    port,
    stop,
  };
}

describe.skipIf(process.platform !== 'linux')(
  'a destination that is fifty times slower than the source',
  async () => {
    for (const [name, start] of [
      ['S3', overS3],
      ['SFTP', overSftp],
    ] as const) {
      const found = await startOrSkip<Reached>(start);
      if ('missing' in found) {
        test.skip(`${name} was not tested: ${found.missing}`, () => {});
        continue;
      }
      const { location, port, stop, variables } = found.server;
      afterAll(async () => await stop());

      test(`${name}: makes the program wait; memory and disk stay bounded, whatever the size of the source`, async () => {
        await using place = await openPlace();
        const run = async (bytes: number, rate: number | undefined, seed: number): Promise<Run> => {
          const source = await fill(place, bytes, seed);
          await using proxy = await slowProxy(port, rate);
          const digest = createHash('sha256').update(`${name} ${seed}`).digest('hex').slice(0, 8);
          const env = { ...variables, HOLDFAST_REPOSITORY: location(proxy.port, `slow-${digest}`) };
          await place.expectRun(['init'], 0, { env });
          const result = await backUp(place, source, env);
          expect(proxy.sent).toBeGreaterThan(bytes);
          return result;
        };
        const fast = await run(LARGE, undefined, 1);
        const small = await run(SMALL, SLOW, 2);
        const large = await run(LARGE, SLOW, 3);
        console.info(`${name}: ${JSON.stringify({ fast, small, large })}`);
        for (const { peakMib, stateMib } of [fast, small, large]) {
          expect(peakMib).toBeLessThan(LIMIT_MIB);
          expect(stateMib).toBeLessThan(64);
        }
        // It was the destination that was waited for.
        expect(large.seconds).toBeGreaterThan((LARGE / SLOW) * 0.8);
        // Three times the source, and hardly more memory.
        expect(large.peakMib - small.peakMib).toBeLessThan(120);
      });
    }
  },
);
