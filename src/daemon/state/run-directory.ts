/** `run/` in the state directory: allows one agent at a time, and tells where it is reached. */
import { rmSync } from 'node:fs';
import { mkdir, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { writeFileAtomically } from '../../base/atomic-file.ts';
import { StateError, errnoOf } from '../../base/errors.ts';
import { holdfast } from '../../base/holdfast-command.ts';
import { isDamage, openDatabase, type Database } from '../../db/database.ts';
import { requirePrivateState } from './private-state.ts';

/** Milliseconds to wait for the lock. Waiting longer is useless, as another agent keeps it for as long as it lives. */
const BUSY_MS = 200;

export interface RunDirectory extends AsyncDisposable {
  readonly path: string;
  /** Writes where the agent is reached. */
  announce(facts: { readonly addresses: readonly string[]; readonly version: string }): Promise<void>;
}

/**
 * Takes the state directory for this process with an exclusive SQLite lock, which the system releases when the process
 * ends, however it ends.
 * @throws {StateError} ALREADY_RUNNING, STATE_NOT_PRIVATE
 */
export async function takeRunDirectory(stateDirectory: string): Promise<RunDirectory> {
  await requirePrivateState(stateDirectory);
  const path = join(stateDirectory, 'run');
  await mkdir(path, { recursive: true, mode: 0o700 });
  const lock = lockOf(path);
  if (lock === undefined) throw await alreadyRunning(path);
  const file = join(path, 'holdfast.json');
  return {
    path,
    async announce({ addresses, version }) {
      const facts = { pid: process.pid, version, addresses };
      await writeFileAtomically(file, `${JSON.stringify(facts, undefined, 2)}\n`);
    },
    async [Symbol.asyncDispose]() {
      // A file that stays behind names a process that has ended, which every reader checks.
      await rm(file, { force: true }).catch(() => undefined);
      lock.close();
    },
  };
}

/** Undefined when another process holds it. */
function lockOf(path: string): Database | undefined {
  try {
    return lockIn(path);
  } catch (error) {
    if (!isDamage(error)) throw error;
    // The database is empty, so a damaged one can be deleted.
    for (const end of ['-wal', '-shm', '']) rmSync(join(path, `lock${end}`), { force: true });
    return lockIn(path);
  }
}

function lockIn(path: string): Database | undefined {
  let database: Database | undefined;
  try {
    database = openDatabase(join(path, 'lock'), { busyMs: BUSY_MS });
    database.pragma('locking_mode = EXCLUSIVE');
    database.exec('BEGIN EXCLUSIVE');
    return database;
  } catch (error) {
    database?.close();
    const code = errnoOf(error instanceof StateError ? error.cause : error) ?? '';
    if (/BUSY|LOCKED/.test(code)) return undefined;
    throw error;
  }
}

async function alreadyRunning(path: string): Promise<StateError> {
  const text = await readFile(join(path, 'holdfast.json'), 'utf8').catch(() => '');
  const pid = /"pid": (\d+)/.exec(text)?.[1];
  const who = pid === undefined ? '' : ` (process ${pid})`;
  return new StateError('ALREADY_RUNNING', `The agent is already running${who}`, {
    hint: `See what it does with: ${holdfast`status`}`,
  });
}
