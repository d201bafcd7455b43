/** Kills short commands before each of their steps, one after the other: the old state stands, or the new one. */
import { expect } from 'vitest';
import { keyTrials } from './key-step-trials.ts';
import { progress } from './phases.ts';
import { countCalls, runAndKill, type Moment } from './program.ts';
import { prepareStepSite, type StepTrial } from './step-site.ts';
import { commandTrials } from './step-trials.ts';
import { stateTrials } from './state-step-trials.ts';
import type { Workspace } from './workspace.ts';
import { writeOnlyTrials } from './write-only-step-trials.ts';

export interface StepKills {
  /** Commands and before how many of their steps they were killed. */
  readonly steps: Readonly<Record<string, number>>;
}

export interface StepPlan {
  /** A kill before every so many-th step only, */
  readonly every: number;
  /** from this one on. */
  readonly first: number;
  /** Commands whose names begin with one of these; all when empty. */
  readonly only: readonly string[];
}

export async function sweepSteps(workspace: Workspace, plan: StepPlan): Promise<StepKills> {
  const site = await prepareStepSite(workspace);
  const all = [
    ...commandTrials(site),
    ...(await keyTrials(site)),
    ...(await writeOnlyTrials(site)),
    ...(await stateTrials(site)),
  ];
  const steps: Record<string, number> = {};
  const { only } = plan;
  for (const trial of all.filter(({ name }) => only.length === 0 || only.some((one) => name.startsWith(one))))
    steps[trial.name] = await killEachStep(trial, plan, workspace);
  return { steps };
}

async function killEachStep(
  trial: StepTrial,
  { every, first }: StepPlan,
  workspace: Workspace,
): Promise<number> {
  const machine = trial.machine ?? ((place) => place);
  const counted = await trial.place();
  const calls = await countCalls(machine(counted), trial.words(counted), trial.calls);
  workspace.drop(counted);
  let kills = 0;
  for (let number = first; number <= calls; number += every) {
    const place = await trial.place();
    const moment: Moment = { kind: 'call', number, calls: trial.calls };
    const outcome = await runAndKill(machine(place), trial.words(place), moment);
    // Leases and heads are not always trimmed by the same number of calls.
    if (outcome.killed) kills += 1;
    else expect(outcome.code).toBe(0);
    await trial.judge(place);
    progress(trial.name, number, calls, moment, 'old or new state stands');
    workspace.drop(place);
  }
  expect(kills).toBeGreaterThan(3 / every);
  return kills;
}
