/** Whether the agent of a state directory answers, and where. */
import { join } from 'node:path';
import { readFileIfPresent } from '../../base/atomic-file.ts';
import type { Clock } from '../../base/clock.ts';
import { StateError } from '../../base/errors.ts';
import { holdfast } from '../../base/holdfast-command.ts';
import { agentRuns } from '../../control/client.ts';

export interface RunningAgent {
  readonly pid: number | null;
  readonly version: string;
  readonly addresses: readonly string[];
}

/** The facts that the agent wrote about itself; undefined when there is no such file. @throws {StateError} STATE_DAMAGED */
export async function announced(stateDirectory: string): Promise<RunningAgent | undefined> {
  const bytes = await readFileIfPresent(join(stateDirectory, 'run', 'holdfast.json'));
  if (bytes === undefined) return undefined;
  try {
    const facts: unknown = JSON.parse(bytes.toString('utf8'));
    if (typeof facts !== 'object' || facts === null) return undefined;
    const pid: unknown = Reflect.get(facts, 'pid');
    const version: unknown = Reflect.get(facts, 'version');
    const addresses: unknown = Reflect.get(facts, 'addresses');
    return {
      pid: typeof pid === 'number' ? pid : null,
      version: typeof version === 'string' ? version : '',
      addresses: Array.isArray(addresses) ? addresses.map(String) : [],
    };
  } catch (cause) {
    throw new StateError('STATE_DAMAGED', `run/holdfast.json in ${stateDirectory} cannot be read`, {
      hint: 'Start the agent again.',
      cause,
    });
  }
}

/** The facts of the running agent; undefined when none answers. @throws {StateError} FORBIDDEN */
export async function runningAgent(
  stateDirectory: string,
  signal: AbortSignal,
): Promise<RunningAgent | undefined> {
  if (!(await agentRuns(join(stateDirectory, 'run'), signal))) return undefined;
  return (await announced(stateDirectory)) ?? { pid: null, version: '', addresses: [] };
}

const STEP_MS = 250;

/** Waits until it answers. @throws {StateError} NOT_READY after `patienceMs` */
export async function waitForAgent(
  stateDirectory: string,
  patienceMs: number,
  { clock, signal }: { readonly clock: Clock; readonly signal: AbortSignal },
): Promise<RunningAgent> {
  const until = clock.monotonic() + patienceMs;
  for (;;) {
    const agent = await runningAgent(stateDirectory, signal);
    if (agent !== undefined) return agent;
    if (clock.monotonic() >= until) {
      throw new StateError(
        'NOT_READY',
        `The agent does not answer after ${Math.round(patienceMs / 1000)} s`,
        {
          hint: `See what it says in ${join(stateDirectory, 'agent.log')} or with: ${holdfast`service status`}`,
        },
      );
    }
    await clock.sleep(STEP_MS, signal);
  }
}

/** Milliseconds. */
const ANSWER_WITHIN = 2_000;

/** Finds out who listens on a port. Whether a Holdfast agent answers there. */
export async function isHoldfast(port: number): Promise<boolean> {
  try {
    const reply = await fetch(`http://127.0.0.1:${port}/healthz`, {
      signal: AbortSignal.timeout(ANSWER_WITHIN),
    });
    const answer: unknown = await reply.json();
    return typeof answer === 'object' && answer !== null && Reflect.get(answer, 'status') === 'ok';
  } catch {
    return false;
  }
}
