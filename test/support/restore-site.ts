/**
 * A backed-up directory in a local repository that other processes can open: for tests that kill a restore, run it as
 * somebody else, or disturb it from outside.
 */

import { spawn, type ChildProcessByStdio } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdirSync, mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import { archive } from '../../src/archiver/archive.ts';
import { SILENT } from '../../src/archiver/report/observer.ts';
import { systemClock } from '../../src/base/clock.ts';
import { openLocalDestination } from '../../src/destination/local/local.ts';
import { createRepository } from '../../src/repository/opening.ts';
import type { RestoreSummary } from '../../src/restorer/request/request.ts';
import { never, requestFor } from './engine.ts';
import { removeTree } from './remove-tree.ts';
import type { RestoreProcessRequest } from './restore-process.ts';
import { SOURCE_FLAGS } from './node-flags.ts';

export interface RestoreSite extends AsyncDisposable {
  readonly directory: string;
  readonly source: string;
  readonly store: string;
  /** Where the source lies below a target directory. */
  below(target: string): string;
  backup(): Promise<void>;
  start(request: Omit<RestoreProcessRequest, 'store' | 'secret'>): RunningRestore;
}

export interface RunningRestore {
  readonly process: ChildProcessByStdio<null, Readable, null>;
  /** The restore has begun. */
  readonly ready: Promise<void>;
  /** How it ended; undefined when it was killed. */
  readonly ended: Promise<RestoreOutcome | undefined>;
}

export interface RestoreFailure {
  readonly code: string;
  readonly side?: string;
  readonly message: string;
  readonly details?: Readonly<Record<string, unknown>>;
}

export type RestoreOutcome = Partial<RestoreSummary> & { readonly error?: RestoreFailure };

export async function openRestoreSite(): Promise<RestoreSite> {
  const directory = mkdtempSync(join(tmpdir(), 'holdfast-restore-'));
  const [source, store] = [join(directory, 'source'), join(directory, 'store')];
  mkdirSync(source);
  mkdirSync(store);
  const secret = randomBytes(32);
  const repository = await createRepository(
    await openLocalDestination(store),
    {
      clock: systemClock,
      stateDirectory: undefined,
      secrets: [{ secret: { kind: 'machine', secret }, label: 'test' }],
      cost: { m: 64, t: 1, p: 1 },
      packTarget: 1_048_576,
      segmentTarget: 131_072,
    },
    never,
  );
  return {
    directory,
    source,
    store,
    below: (target) => join(target, resolve(source)),
    backup: async () => {
      await archive(requestFor(repository, [source]), SILENT, never);
    },
    start: (request) => startRestore({ ...request, store, secret: secret.toString('hex') }),
    [Symbol.asyncDispose]: async () => {
      await repository.close();
      removeTree(directory);
    },
  };
}

const script = new URL('restore-process.ts', import.meta.url).pathname;

function startRestore(request: RestoreProcessRequest): RunningRestore {
  const child = spawn(process.execPath, [...SOURCE_FLAGS, script, JSON.stringify(request)], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const ready = Promise.withResolvers<void>();
  const ended = Promise.withResolvers<RestoreOutcome | undefined>();
  let outcome: RestoreOutcome | undefined;
  const lines = createInterface(child.stdout);
  lines.on('line', (line) => {
    if (line === 'ready') ready.resolve();
    else outcome = JSON.parse(line);
  });
  lines.on('close', () => {
    ready.resolve();
    ended.resolve(outcome);
  });
  return { process: child, ready: ready.promise, ended: ended.promise };
}
