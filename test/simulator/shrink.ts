/** Makes a plan that breaks a promise smaller, for as long as it still breaks the same one. */

import type { Plan } from './plan.ts';
import type { Promised } from './promises.ts';
import { simulate } from './simulate.ts';

/** Fewer machines, operations and faults; each candidate leaves one of them out. */
function* smaller(plan: Plan): Generator<Plan> {
  const { machines } = plan;
  for (const machine of machines)
    yield { ...plan, machines: machines.filter((one) => one !== machine && one.cloneOf !== machine.name) };
  for (const machine of machines) {
    const changed = (change: Partial<typeof machine>): Plan => ({
      ...plan,
      machines: machines.map((one) => (one === machine ? { ...one, ...change } : one)),
    });
    for (const operation of machine.operations)
      yield changed({ operations: machine.operations.filter((one) => one !== operation) });
    for (const fault of machine.faults)
      yield changed({ faults: machine.faults.filter((one) => one !== fault) });
  }
}

/** @returns the smallest plan found after so many tries at most, and how many were made */
export async function shrink(
  plan: Plan,
  promise: Promised,
  most: number,
): Promise<{ readonly plan: Plan; readonly tries: number }> {
  let smallest = plan;
  let tries = 0;
  for (let found = true; found && tries < most;) {
    found = false;
    for (const candidate of smaller(smallest)) {
      if (tries === most) break;
      tries += 1;
      const { violation } = await simulate(candidate);
      if (violation?.promise !== promise) continue;
      smallest = candidate;
      found = true;
      break;
    }
  }
  return { plan: smallest, tries };
}
