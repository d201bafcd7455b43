/**
 * A small repository in an S3 bucket that is reached through a proxy which does wrong: real backups, restores, checks and
 * prunes by the real engine, and what must be so after each of them.
 */
import { randomBytes } from 'node:crypto';
import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { expect } from 'vitest';
import { archive, type ArchiveSummary } from '../../src/archiver/archive.ts';
import { SILENT } from '../../src/archiver/report/observer.ts';
import { treePath } from '../../src/base/tree-path.ts';
import { systemClock } from '../../src/base/clock.ts';
import { DestinationError, HoldfastError, RepositoryError } from '../../src/base/errors.ts';
import { openCached } from '../../src/cache/open.ts';
import { withAdaptiveParallelism } from '../../src/destination/open/adaptive.ts';
import type { Destination } from '../../src/destination/destination.ts';
import { briefPolicy, defaultRetryPolicy, withRetry, type Sleep } from '../../src/destination/retry.ts';
import { openS3Destination, type S3Options } from '../../src/destination/s3/s3.ts';
import { SILENT_CHECK, type Finding } from '../../src/repository/check/check-report.ts';
import { check } from '../../src/repository/check/check.ts';
import { SILENT_PRUNE, prune } from '../../src/repository/prune/prune.ts';
import { createRepository, openRepository } from '../../src/repository/opening.ts';
import type { Repository } from '../../src/repository/repository.ts';
import { forgetSnapshots, listSnapshots, type Snapshot } from '../../src/repository/snapshots.ts';
import { restore } from '../../src/restorer/restore.ts';
import { SILENT_RESTORE } from '../../src/restorer/request/request.ts';
import type { S3Server } from '../servers/s3-server.ts';
import { never, requestFor } from './engine.ts';
import { startFaultProxy, type Fault, type FaultProxy, type SecureOptions } from './fault-proxy.ts';
import { snapshotDifferences } from './compare-snapshot.ts';
import { removeTree } from './remove-tree.ts';
import { seededRandom, type SeededRandom } from './seeded-random.ts';
import { entriesOnDisk } from './tree-manifest.ts';

export type Operation = 'backup' | 'restore' | 'check' | 'prune';

/** How one operation went. */
export interface Trial {
  /** What it ended with; undefined when it did what it should. */
  readonly error: HoldfastError | undefined;
  /** What the proxy did meanwhile, and of how many requests. */
  readonly fired: number;
  readonly came: number;
  /** How often it was begun: the queue of the agent begins a job again that could not reach its destination. */
  readonly runs: number;
  /** Snapshots that were added. */
  readonly added: number;
  /** Milliseconds that were to be waited before something was tried again. */
  readonly waits: readonly { readonly ms: number; readonly error: DestinationError }[];
  readonly uploaded: number | undefined;
}

export interface FaultSiteOptions {
  readonly server: Pick<S3Server, 'endpoint' | 'accessKeyId' | 'secretAccessKey'>;
  readonly bucket: string;
  readonly seed: number;
  /** How long nothing may move, in milliseconds. */
  readonly stallMs?: number;
  /** Bytes that are new in each trial. */
  readonly newBytes?: number;
  /** With what the proxy shows who it is; without it nothing is encrypted. */
  readonly tls?: SecureOptions;
}

export interface FaultSite extends AsyncDisposable {
  readonly proxy: FaultProxy;
  readonly random: SeededRandom;
  /**
   * One operation while the proxy does this; nothing is asserted but that what it throws is an error of ours.
   * @param again how often it is begun again when the destination could not be reached
   */
  attempt(operation: Operation, faults: readonly Fault[], seed: number, again?: number): Promise<Trial>;
  /**
   * With the faults gone: a backup completes and holds what is there, and all data are as they should be; with `every`,
   * each snapshot restores exactly.
   */
  expectSound(every?: boolean): Promise<void>;
  /** Through the proxy, as anybody opens it but for waits. */
  open(stallMs?: number): Promise<Destination>;
}

type Manifest = string;

const PLACE = { kind: 's3', region: undefined, pathStyle: true } as const;

/** What was found to be damaged, as somebody is told of it. */
function tellDamage(what: string, damage: readonly string[]): void {
  if (damage.length > 0) throw new RepositoryError('CORRUPT_DATA', `${what}: ${damage.join('; ')}`);
}

function damageIn(findings: readonly Finding[]): readonly string[] {
  return findings
    .filter(({ severity }) => severity === 'error')
    .map(({ object, what }) => `${object}: ${what}`);
}

export async function openFaultSite(options: FaultSiteOptions): Promise<FaultSite> {
  const { bucket, newBytes = 240_000, seed, server, stallMs } = options;
  const { accessKeyId, secretAccessKey } = server;
  const proxy = await startFaultProxy(server.endpoint, options.tls);
  const directory = mkdtempSync(join(tmpdir(), 'holdfast-faults-'));
  const source = join(directory, 'source');
  const state = join(directory, 'state');
  for (const path of [source, state]) mkdirSync(path, { mode: 0o700 });
  const random = seededRandom(seed);
  const secret = { kind: 'machine' as const, secret: randomBytes(32) };
  const waits: Trial['waits'][number][] = [];
  /** Nobody waits for minutes here; what would have been waited is written down. */
  const sleep: Sleep = async (_, signal) => await delay(1, undefined, { signal });
  const prefix = `faults-${randomBytes(4).toString('hex')}`;
  const known = new Map<string, Manifest>();
  let round = 0;
  let restored = 0;

  /** Only while something hangs on purpose: a machine that is busy hangs too. */
  let stallNow: number | undefined;

  async function open(patienceMs = stallNow): Promise<Destination> {
    const s3Options: S3Options = {
      create: true,
      ...(patienceMs === undefined ? {} : { stallMs: patienceMs }),
      patience: { policy: { ...briefPolicy, random: random.next }, sleep },
    };
    const place = { ...PLACE, bucket, prefix, endpoint: proxy.endpoint };
    const policy = {
      ...defaultRetryPolicy,
      random: random.next,
      onRetry: (error: DestinationError, ms: number) => void waits.push({ ms, error }),
    };
    const opened = await openS3Destination(place, { accessKeyId, secretAccessKey }, s3Options);
    return withRetry(withAdaptiveParallelism(opened), policy, sleep);
  }

  async function withRepository<T>(work: (repository: Repository, cached: Repository) => Promise<T>) {
    const destination = await open();
    try {
      const surroundings = { clock: systemClock, stateDirectory: state };
      const repository = await openRepository(destination, secret, surroundings, never);
      const cache = openCached(repository, state, systemClock);
      try {
        return await work(repository, cache.repository);
      } finally {
        cache.close();
      }
    } finally {
      await destination.close();
    }
  }

  const manifest = (path: string): Manifest =>
    JSON.stringify(
      entriesOnDisk(treePath(path)).map((entry) => ({ ...entry, path: entry.path.slice(path.length) })),
    );

  /** What is there grows, changes and goes. */
  function changeSource(): void {
    round += 1;
    const here = join(source, `round-${round % 3}`);
    rmSync(here, { recursive: true, force: true });
    mkdirSync(here);
    for (let index = 0; index < 4; index += 1)
      writeFileSync(join(here, `file-${index}`), random.bytes(Math.floor(newBytes / 4)));
    writeFileSync(join(source, 'changing'), `round ${round}\n`);
    writeFileSync(join(source, `kept-${round}`), random.bytes(100 + random.below(5_000)));
  }

  async function backUp(repository: Repository): Promise<ArchiveSummary> {
    return await archive(requestFor(repository, [source]), SILENT, never);
  }

  async function expectRestores(repository: Repository, snapshot: Snapshot): Promise<void> {
    const target = join(directory, `restored-${(restored += 1)}`);
    const request = {
      repository,
      snapshot,
      target: { kind: 'directory' as const, path: target },
      paths: [],
      never: [],
      include: [],
      exclude: [],
      overwrite: 'never' as const,
      deleteExtra: false,
      dryRun: false,
      verify: true,
      restoreOwnership: process.getuid?.() === 0,
      ownersByName: false,
      workers: 1,
    };
    try {
      const { errors } = await restore(request, SILENT_RESTORE, never);
      tellDamage(
        'restored',
        errors.map(({ code, message }) => `${code}: ${message}`),
      );
      expect(manifest(join(target, resolve(source))) === known.get(snapshot.id)).toBe(true);
    } finally {
      removeTree(target);
    }
  }

  async function runOperation(operation: Operation): Promise<number | undefined> {
    return await withRepository(async (repository, cached) => {
      switch (operation) {
        case 'backup':
          return (await backUp(cached)).bytesUploaded;
        case 'restore': {
          const newest = (await listSnapshots(cached, never)).live.at(-1);
          if (newest === undefined) throw new Error('there is nothing to restore');
          await expectRestores(cached, newest);
          return undefined;
        }
        case 'check': {
          const { findings } = await check(repository, { readData: 'all', workers: 0 }, SILENT_CHECK, never);
          tellDamage('checked', damageIn(findings));
          return undefined;
        }
        case 'prune': {
          const { live } = await listSnapshots(repository, never);
          const oldest = live.slice(0, Math.max(0, live.length - 2)).map(({ id }) => id);
          if (oldest.length > 0) await forgetSnapshots(repository, oldest, 'test', never);
          const settings = { graceSeconds: 0, noOtherWriters: true };
          await prune(repository, settings, SILENT_PRUNE, never);
          return undefined;
        }
      }
    });
  }

  /** Those that are there, by the store itself. */
  async function learnSnapshots(): Promise<number> {
    return await withRepository(async (_, cached) => {
      const { damaged, live } = await listSnapshots(cached, never);
      expect(damaged).toEqual([]);
      const now = manifest(source);
      const before = known.size;
      for (const { id } of live) if (!known.has(id)) known.set(id, now);
      return known.size - before;
    });
  }

  const plain = await open();
  const made = await createRepository(
    plain,
    {
      clock: systemClock,
      stateDirectory: state,
      secrets: [{ secret, label: 'test' }],
      cost: { m: 64, t: 1, p: 1 },
      packTarget: 131_072,
      segmentTarget: 65_536,
    },
    never,
  );
  for (let first = 0; first < 2; first += 1) {
    changeSource();
    const { snapshot } = await backUp(made);
    known.set(snapshot.id, manifest(source));
  }
  await made.close();

  return {
    proxy,
    random,
    open,
    async attempt(operation, faults, faultSeed, again = 0) {
      if (operation === 'backup') changeSource();
      waits.length = 0;
      proxy.inject(faults, faultSeed);
      stallNow = stallMs;
      let error: unknown;
      let uploaded: number | undefined;
      let runs = 0;
      do {
        runs += 1;
        error = undefined;
        try {
          uploaded = await runOperation(operation);
        } catch (thrown) {
          error = thrown;
        }
      } while (runs <= again && error instanceof DestinationError && error.kind === 'unreachable');
      stallNow = undefined;
      const { came, fired } = proxy;
      proxy.calm();
      if (options.tls !== undefined) proxy.secure(options.tls);
      // Anything else is a defect: of the program, or of this test.
      if (error !== undefined && !(error instanceof HoldfastError)) throw error;
      // Nothing else adds any.
      const added = operation === 'backup' ? await learnSnapshots() : 0;
      return { error, fired, came, runs, waits: [...waits], uploaded, added };
    },
    async expectSound(every = false) {
      proxy.calm();
      changeSource();
      await withRepository(async (repository, cached) => {
        const { snapshot } = await backUp(cached);
        expect(snapshot.record).toMatchObject({ status: 'complete' });
        known.set(snapshot.id, manifest(source));
        const { findings } = await check(repository, { readData: 'all', workers: 0 }, SILENT_CHECK, never);
        expect(damageIn(findings)).toEqual([]);
        expect(await snapshotDifferences(cached, snapshot, source, never)).toEqual([]);
        if (!every) return;
        const { live } = await listSnapshots(cached, never);
        expect(live.length).toBeGreaterThan(1);
        for (const one of live) await expectRestores(cached, one);
      });
    },
    async [Symbol.asyncDispose]() {
      await proxy[Symbol.asyncDispose]();
      expect(readdirSync(directory).toSorted()).toEqual(['source', 'state']);
      removeTree(directory);
    },
  };
}
