/** The local socket between the agent and the commands that ask it. */
import { once } from 'node:events';
import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test, vi } from 'vitest';
import type { ControlHandlers } from '../../../src/control/calls.ts';
import { callAgent } from '../../../src/control/client.ts';
import { serveControl } from '../../../src/control/server.ts';
import { removeTree } from '../../support/remove-tree.ts';

const never = new AbortController().signal;

async function serve(agent: (signal: AbortSignal) => Promise<unknown>): Promise<string> {
  const run = await mkdtemp(join(tmpdir(), 'holdfast-control-'));
  const handlers = { agent: async (_: unknown, signal: AbortSignal) => await agent(signal) };
  const server = await serveControl(run, handlers as Partial<ControlHandlers> as ControlHandlers, (error) => {
    throw error;
  });
  onTestFinished(async () => {
    await server.close();
    removeTree(run);
  });
  return run;
}

test('many calls over one connection leave nothing behind on it', async () => {
  const warnings: Error[] = [];
  const note = (warning: Error): void => void warnings.push(warning);
  process.on('warning', note);
  onTestFinished(() => void process.off('warning', note));
  const run = await serve(async () => 'here');
  for (let i = 0; i < 20; i += 1) expect(await callAgent(run, 'agent', {}, never)).toBe('here');
  await new Promise((resolve) => setImmediate(resolve));
  expect(warnings).toEqual([]);
});

test('who does not wait for the answer ends the work on it', async () => {
  let asked: AbortSignal | undefined;
  const run = await serve(async (signal) => {
    asked = signal;
    await once(signal, 'abort');
  });
  const leaving = new AbortController();
  const answer = callAgent(run, 'agent', {}, leaving.signal);
  await vi.waitUntil(() => asked !== undefined);
  expect(asked?.aborted).toBe(false);
  leaving.abort();
  await expect(answer).rejects.toMatchObject({ name: 'AbortError' });
  await vi.waitUntil(() => asked?.aborted === true);
});
