/** Checks the agent: whether it runs, its port, and what it may watch. */
import { opendir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { isAlive } from '../../base/alive.ts';
import { treePath } from '../../base/tree-path.ts';
import type { Clock } from '../../base/clock.ts';
import { errnoOf } from '../../base/errors.ts';
import { holdfast } from '../../base/holdfast-command.ts';
import { callAgent } from '../../control/client.ts';
import { farMountsOf, farPlaceOf } from '../../system/far-mounts.ts';
import { count } from '../terminal/wording.ts';
import { protectionOf } from '../../jobs/protection.ts';
import type { Context } from '../command/context.ts';
import { forMachineService, installCommand } from '../install/installed.ts';
import { announced, runningAgent, type RunningAgent } from '../install/readiness.ts';
import { statePaths, type StatePaths } from '../command/state-directory.ts';
import type { Environment } from '../terminal/terminal.ts';
import { type Finding, ok, problem, warning } from '../../daemon/doctor/finding.ts';
import { withShownNames } from '../places/shown-names.ts';

export async function checkAgent(
  env: Environment,
  signal: AbortSignal,
): Promise<{ readonly finding: Finding; readonly agent: RunningAgent | undefined }> {
  const stateDirectory = statePaths(env).directory;
  const agent = await runningAgent(stateDirectory, signal);
  if (agent !== undefined) {
    const who = agent.pid === null ? '' : ` (process ${agent.pid}, version ${agent.version})`;
    return { finding: ok('agent', `Running${who}`), agent };
  }
  const left = await announced(stateDirectory);
  const elsewhere = await forMachineService(['doctor'], env);
  const hint =
    elsewhere === undefined
      ? `Start it with: ${holdfast`start`}; or whenever the machine starts: ${installCommand(env)}`
      : `This machine runs an agent as a service; check that one with: ${elsewhere}`;
  if (left === undefined || left.pid === null || !isAlive(left.pid))
    return { finding: warning('agent', 'Not running', hint), agent: undefined };
  return {
    finding: problem(
      'agent',
      `Process ${left.pid} does not answer`,
      `Look for the reason in ${join(stateDirectory, 'agent.log')}, then end the process.`,
    ),
    agent: undefined,
  };
}

/** What the agent says first when it is asked whether all is protected. */
export async function checkProtection({ env, clock, signal }: Context): Promise<Finding> {
  const status = await callAgent(statePaths(env).run, 'status', {}, signal);
  const { level, sentence } = protectionOf(withShownNames(status), clock.now());
  if (level === 'good') return ok('backups', sentence);
  const judge = level === 'bad' ? problem : warning;
  return judge('backups', sentence, `For details and what to do: ${holdfast`status`}`);
}

/** Milliseconds after which counting stops: an answer that is nearly right is better than none. */
const COUNT_MS = 3000;

/** The sources that the running agent should watch but gets no events for. */
export async function unwatchedSources(
  { run }: Pick<StatePaths, 'run'>,
  signal: AbortSignal,
): Promise<readonly string[]> {
  const { statements } = await callAgent(run, 'status', {}, signal);
  return statements.find(({ code }) => code === 'not_watched')?.paths ?? [];
}

/**
 * Checks the limit for watching. Linux watches directories one by one, and each user only so many.
 * @param unwatched sources for which the agent gets no events: they are not watched, whatever the figures say
 */
export async function checkWatching(
  roots: readonly string[],
  unwatched: readonly string[],
  { clock, signal }: { readonly clock: Clock; readonly signal: AbortSignal },
): Promise<Finding> {
  if (roots.length === 0) return ok('watching', 'Nothing to watch');
  const limit = process.platform === 'linux' ? await watchLimit() : undefined;
  const why = `The log has the reason: ${holdfast`logs`}`;
  const told = `The system does not report changes in ${unwatched.join(', ')}`;
  if (limit === undefined)
    return unwatched.length > 0
      ? problem('watching', told, why)
      : ok('watching', `${count(roots.length, 'source')} to watch`);
  const { directories, complete } = await countDirectories(roots, limit, clock.monotonic() + COUNT_MS, {
    clock,
    signal,
  });
  const wanted = Math.max(524_288, limit * 2);
  const text = `${complete ? '' : 'at least '}${count(directories, 'directory', 'directories')} to watch, ${limit} allowed`;
  const hint = `Run: sudo sysctl -w fs.inotify.max_user_watches=${wanted} (to make it permanent, add it to /etc/sysctl.d/60-holdfast.conf)`;
  if (unwatched.length > 0)
    return problem('watching', `${told}: ${text} for all programs of its user together`, `${hint}. ${why}`);
  if (directories >= limit) return problem('watching', text, hint);
  return directories > limit * 0.8 ? warning('watching', text, hint) : ok('watching', text);
}

async function watchLimit(): Promise<number | undefined> {
  try {
    return Number((await readFile('/proc/sys/fs/inotify/max_user_watches', 'utf8')).trim());
  } catch (error) {
    if (errnoOf(error) === 'ENOENT' || errnoOf(error) === 'EACCES') return undefined;
    throw error;
  }
}

async function countDirectories(
  roots: readonly string[],
  most: number,
  untilMs: number,
  { clock, signal }: { readonly clock: Clock; readonly signal: AbortSignal },
): Promise<{ readonly directories: number; readonly complete: boolean }> {
  // Network file systems are left out: the system does not watch them, and they may not answer.
  const far = farMountsOf();
  const waiting = roots.filter((root) => farPlaceOf(treePath(root)) === undefined);
  let directories = 0;
  for (let path = waiting.pop(); path !== undefined; path = waiting.pop()) {
    signal.throwIfAborted();
    if (directories >= most || clock.monotonic() > untilMs) return { directories, complete: false };
    const below = await directoriesIn(path);
    if (below === undefined) continue;
    directories += 1;
    for (const name of below) {
      const inner = join(path, name);
      if (!far.has(treePath(inner))) waiting.push(inner);
    }
  }
  return { directories, complete: true };
}

/** The names of the directories in a directory; undefined if it cannot be read, and so not watched either. */
async function directoriesIn(path: string): Promise<readonly string[] | undefined> {
  const names: string[] = [];
  try {
    for await (const entry of await opendir(path)) if (entry.isDirectory()) names.push(entry.name);
    return names;
  } catch (error) {
    if (errnoOf(error) === undefined) throw error;
    return undefined;
  }
}
