/** Agents that are started on the state directory of one that runs, at rest and at work. */
import { randomBytes } from 'node:crypto';
import { expect } from 'vitest';
import { StateError } from '../../src/base/errors.ts';
import { createLog } from '../../src/base/log.ts';
import { createRedactor } from '../../src/base/redact.ts';
import { startDaemon } from '../../src/daemon/daemon.ts';
import { openDaemonSite, type DaemonSite } from '../support/daemon-site.ts';

/** Until the second one knows that it has no business here. */
const MOST_MS = 1_000;

export interface SecondAgents {
  readonly tried: number;
  readonly slowestMs: number;
}

/** In this process, so that the time is the agent's own and not that of starting Node. */
export async function sweepSecondAgents(count: number): Promise<SecondAgents> {
  await using site = await openDaemonSite();
  let slowestMs = 0;
  for (let round = 0; round < count; round += 1) {
    site.write({ [`file-${round}`]: randomBytes(50_000) });
    const { source } = site;
    const { id } = await site.agent.requestBackup({ source, options: {} }, 'api');
    // Every other one comes while the first agent is at work.
    if (round % 2 === 0) await site.ended(id);
    const began = performance.now();
    const error = await secondAgent(site);
    slowestMs = Math.max(slowestMs, performance.now() - began);
    expect(error).toMatchObject({ code: 'ALREADY_RUNNING' });
    expect(slowestMs).toBeLessThan(MOST_MS);
    expect(await site.ended(id)).toMatchObject({ status: 'completed', error: null });
  }
  return { tried: count, slowestMs };
}

/** What it ended with. */
async function secondAgent({ state, configFile, clock }: DaemonSite): Promise<StateError | undefined> {
  const { PATH, HOME } = process.env;
  try {
    const daemon = await startDaemon({
      stateDirectory: state,
      configFile,
      configRequired: false,
      port: 0,
      version: '0.0.0',
      environment: { PATH, HOME, HOLDFAST_TEST_KDF: '64,1,1' },
      clock,
      log: createLog('error', { write: () => true }),
      redactor: createRedactor(),
      forget: () => undefined,
      machineKey: async () => await Promise.resolve(randomBytes(32)),
      now: [],
    });
    await daemon[Symbol.asyncDispose]();
    return undefined;
  } catch (error) {
    if (error instanceof StateError) return error;
    throw error;
  }
}
