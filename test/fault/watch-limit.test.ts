/** A user who may watch no more directories, in a user namespace of its own whose limit is low. */
// Turn 5 of 8.

import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { SOURCE_FLAGS } from '../support/node-flags.ts';
import { removeTree } from '../support/remove-tree.ts';
import { moduleUrl } from '../support/run-script.ts';

const SCRIPT = `
  import { mkdirSync } from 'node:fs';
  import { setTimeout as delay } from 'node:timers/promises';
  const { watchSource } = await import('${moduleUrl('src/watch/source-watcher.ts')}');
  const { bytesOfText } = await import('${moduleUrl('src/base/byte-path.ts')}');
  const { systemClock } = await import('${moduleUrl('src/base/clock.ts')}');
  const root = process.argv[2];
  const lost = [], problems = [];
  const watcher = watchSource(
    { root: bytesOfText(root), never: [], poll: false, clock: systemClock },
    { changed: () => {}, lost: (reason) => lost.push(reason), problem: (error) => problems.push(error) },
  );
  while (watcher.state === 'starting') await delay(5);
  const first = watcher.state;
  watcher.take();
  for (let count = 0; count < Number(process.argv[3]); count += 1) {
    mkdirSync(root + '/new-' + count);
    await delay(2);
  }
  for (let waited = 0; waited < 3_000 && problems.length === 0; waited += 20) await delay(20);
  const { state } = watcher;
  const changes = watcher.take();
  await watcher.close();
  const shown = problems.map(({ code, message, hint }) => ({ code, message, hint }));
  process.stdout.write(JSON.stringify({ first, state, lost, kind: changes.kind, problems: shown }));
`;

const RAISED = `
  import { writeFileSync } from 'node:fs';
  import { setTimeout as delay } from 'node:timers/promises';
  const { watchSource } = await import('${moduleUrl('src/watch/source-watcher.ts')}');
  const { bytesOfText } = await import('${moduleUrl('src/base/byte-path.ts')}');
  const { systemClock } = await import('${moduleUrl('src/base/clock.ts')}');
  let changes = 0;
  const watcher = watchSource(
    { root: bytesOfText(process.argv[2]), never: [], poll: false, clock: systemClock, quietMs: 10 },
    { changed: () => (changes += 1), lost: () => {}, problem: () => {} },
  );
  while (watcher.state === 'starting') await delay(5);
  const first = watcher.state;
  for (let waited = 0; waited < 3_000 && changes === 0; waited += 20) await delay(20);
  watcher.take();
  await delay(700);
  const same = watcher.state;
  const before = changes;
  writeFileSync('/proc/sys/user/max_inotify_watches', '1000');
  watcher.take();
  for (let waited = 0; waited < 10_000 && changes === before; waited += 20) await delay(20);
  const { state } = watcher;
  await watcher.close();
  process.stdout.write(JSON.stringify({ first, same, state, changes: changes - before }));
`;

interface Report {
  readonly first: string;
  readonly state: string;
  readonly kind: string;
  readonly lost: readonly string[];
  readonly problems: readonly { readonly code: string; readonly message: string; readonly hint: string }[];
}

let directory: string;

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'holdfast-watch-limit-'));
  for (let count = 0; count < 30; count += 1)
    mkdirSync(join(directory, 'source', `${count}`), { recursive: true });
  writeFileSync(join(directory, 'script.mjs'), SCRIPT);
  writeFileSync(join(directory, 'raised.mjs'), RAISED);
});
afterEach(() => removeTree(directory));

/** Runs the script with a limit that holds for it alone. */
function underLimit(limit: string, value: number, newDirectories: number, name = 'script.mjs'): Report {
  const command = `echo ${value} > /proc/sys/user/${limit} && exec "$@"`;
  const script = [join(directory, name), join(directory, 'source'), `${newDirectories}`];
  const parameters = ['-Ur', 'sh', '-c', command, 'sh', process.execPath, ...SOURCE_FLAGS, ...script];
  return JSON.parse(execFileSync('unshare', parameters, { encoding: 'utf8', timeout: 60_000 }));
}

function hasNamespaces(): boolean {
  try {
    execFileSync('unshare', ['-Ur', 'sh', '-c', 'echo 1000 > /proc/sys/user/max_inotify_watches'], {
      stdio: 'ignore',
    });
    return true;
  } catch {
    return false;
  }
}

describe.runIf(hasNamespaces())('with a limit on what may be watched', () => {
  test('too low for the source: everything is unknown, and the command that raises it is told', () => {
    const { first, kind, lost, problems } = underLimit('max_inotify_watches', 20, 0);
    expect(first).toBe('lost');
    expect(kind).toBe('unknown');
    expect(lost).toEqual(['the system does not allow this user to watch more directories']);
    expect(problems).toHaveLength(1);
    expect(problems[0]?.code).toBe('WATCH_LIMIT');
    expect(problems[0]?.hint).toMatch(/run: sudo sysctl -w user\.max_inotify_watches=\d{6,} /);
  });

  test('reached by new directories: it is noticed', () => {
    const { first, state, kind, problems } = underLimit('max_inotify_watches', 45, 30);
    expect(first).toBe('watching');
    expect(state).toBe('lost');
    expect(kind).toBe('unknown');
    expect(problems.map(({ code }) => code)).toEqual(['WATCH_LIMIT']);
  });

  test('reached by the source itself: a look notices that the next directory, of which nothing is told, is not watched', () => {
    const { first, state, kind, lost, problems } = underLimit('max_inotify_watches', 32, 1);
    expect(first).toBe('watching');
    expect(state).toBe('lost');
    expect(kind).toBe('unknown');
    expect(lost).toEqual(['the system does not allow this user to watch more directories']);
    expect(problems.map(({ code }) => code)).toEqual(['WATCH_LIMIT']);
  });

  test('that is raised: the source is watched again at the next look, and a backup finds what was written meanwhile', () => {
    expect(underLimit('max_inotify_watches', 20, 0, 'raised.mjs')).toEqual({
      first: 'lost',
      same: 'lost',
      state: 'watching',
      changes: 1,
    });
  });

  test('on queues: it does not wait for ever', () => {
    const { first, problems } = underLimit('max_inotify_instances', 0, 0);
    expect(first).toBe('lost');
    expect(problems[0]?.hint).toContain('user.max_inotify_instances=');
  });
});
