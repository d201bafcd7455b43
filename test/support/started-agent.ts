/** The agent of a place, as `holdfast start` begins it, until the test is through with it. */
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import type { Place } from './cli.ts';

/** Without what would name another repository than that of the settings. */
const fresh = { env: { HOLDFAST_REPOSITORY: undefined, HOLDFAST_PASSWORD: undefined } };

/** Resolves once the agent answers. `more`: words behind `start`. */
export async function startAgent(place: Place, more: readonly string[] = []): Promise<AsyncDisposable> {
  const child = place.start(['start', '--port', '0', '--json', ...more], fresh);
  child.stderr?.resume();
  const ended = once(child, 'exit');
  for await (const line of createInterface(child.stdout ?? process.stdin)) {
    const said = JSON.parse(line) as { readonly type?: unknown };
    if (said.type !== 'ready') throw new Error(`the agent is not ready: ${line}`);
    break;
  }
  child.stdout?.resume();
  return {
    async [Symbol.asyncDispose]() {
      child.kill('SIGTERM');
      await ended;
    },
  };
}
