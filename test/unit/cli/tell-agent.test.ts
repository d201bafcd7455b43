/** What a command does is done whether an agent learns of it or not; a person reads where it does not. */
import { mkdirSync, mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeEach, expect, onTestFinished, test } from 'vitest';
import { StateError } from '../../../src/base/errors.ts';
import { tellOfCheck } from '../../../src/cli/agent/tell-agent.ts';
import type { Context } from '../../../src/cli/command/context.ts';
import { statePaths } from '../../../src/cli/command/state-directory.ts';
import type { ControlHandlers } from '../../../src/control/calls.ts';
import { serveControl } from '../../../src/control/server.ts';
import { removeTree } from '../../support/remove-tree.ts';

let env: Record<string, string>;
let written: string;

beforeEach(() => {
  const directory = mkdtempSync(join(tmpdir(), 'holdfast-tell-'));
  onTestFinished(() => removeTree(directory));
  env = { HOLDFAST_STATE_DIR: directory };
  written = '';
});

async function tell(): Promise<void> {
  const stderr = { write: (text: string) => (written += text) };
  const context = { env, stderr, signal: new AbortController().signal } as unknown as Context;
  const repository = { id: 'a', clock: { now: () => 10_000 } } as Parameters<typeof tellOfCheck>[0];
  const report = { status: 'damaged', findings: [], durationMs: 10 } as unknown as Parameters<
    typeof tellOfCheck
  >[1];
  await tellOfCheck(repository, report, true, context);
}

async function agentThat(answers: () => Promise<number>): Promise<void> {
  const { run } = statePaths(env);
  mkdirSync(run, { recursive: true, mode: 0o700 });
  const handlers: Partial<ControlHandlers> = { done_by_command: answers };
  const server = await serveControl(run, handlers as ControlHandlers, () => {});
  onTestFinished(async () => await server.close());
}

test('without an agent there is nobody to tell', async () => {
  await tell();
  expect(written).toBe('');
});

test('an agent that notes it is not spoken of', async () => {
  await agentThat(async () => await Promise.resolve(1));
  await tell();
  expect(written).toBe('');
});

test('that an agent cannot note it is said, and the command goes on', async () => {
  await agentThat(async () => {
    await Promise.resolve();
    throw new StateError('STATE_FULL', 'The disk of the state is full');
  });
  await tell();
  expect(written).toBe('Note: the running agent does not know of this: The disk of the state is full.\n');
});
