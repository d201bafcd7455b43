/**
 * Restores in a process of its own, which a test can kill, swap directories under, or run as somebody else. Its only
 * argument is JSON; it prints `ready` when the restore begins and the summary, or the error, when it ends.
 */

import { treePath } from '../../src/base/tree-path.ts';
import { systemClock } from '../../src/base/clock.ts';
import { HoldfastError } from '../../src/base/errors.ts';
import { openLocalDestination } from '../../src/destination/local/local.ts';
import { openRepository } from '../../src/repository/opening.ts';
import { listSnapshots } from '../../src/repository/snapshots.ts';
import { SILENT_RESTORE, type OverwriteMode } from '../../src/restorer/request/request.ts';
import { restore } from '../../src/restorer/restore.ts';

export interface RestoreProcessRequest {
  readonly store: string;
  /** Hex. */
  readonly secret: string;
  /** Undefined: in place. */
  readonly target: string | undefined;
  readonly overwrite: OverwriteMode;
  readonly paths?: readonly string[];
  readonly restoreOwnership?: boolean;
  readonly workers?: number;
  /** Run as this user and group. */
  readonly as?: { readonly uid: number; readonly gid: number };
}

async function main(): Promise<void> {
  const request: RestoreProcessRequest = JSON.parse(process.argv[2] ?? '{}');
  const signal = new AbortController().signal;
  const destination = await openLocalDestination(request.store);
  const secret = { kind: 'machine' as const, secret: Buffer.from(request.secret, 'hex') };
  const repository = await openRepository(
    destination,
    secret,
    { clock: systemClock, stateDirectory: undefined },
    signal,
  );
  const { live } = await listSnapshots(repository, signal);
  const snapshot = live.at(-1);
  if (snapshot === undefined) throw new Error('there is no snapshot');
  if (request.as !== undefined) {
    process.setgroups?.([]);
    process.setgid?.(request.as.gid);
    process.setuid?.(request.as.uid);
  }
  process.stdout.write('ready\n');
  const summary = await restore(
    {
      repository,
      snapshot,
      target:
        request.target === undefined ? { kind: 'in-place' } : { kind: 'directory', path: request.target },
      paths: (request.paths ?? []).map(treePath),
      never: [],
      include: [],
      exclude: [],
      overwrite: request.overwrite,
      deleteExtra: false,
      dryRun: false,
      verify: true,
      restoreOwnership: request.restoreOwnership ?? false,
      ownersByName: false,
      workers: request.workers ?? 2,
    },
    SILENT_RESTORE,
    signal,
  );
  process.stdout.write(`${JSON.stringify(summary)}\n`);
  await repository.close();
}

try {
  await main();
} catch (error) {
  const facts =
    error instanceof HoldfastError
      ? { code: error.code, side: error.side, message: error.message, details: error.details }
      : { code: 'UNKNOWN', message: String(error) };
  process.stdout.write(`${JSON.stringify({ error: facts })}\n`);
  process.exitCode = 1;
}
