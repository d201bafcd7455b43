/** Makes a plan that breaks a promise smaller, for as long as it still breaks the same one. */

export interface BrokenPromise extends Error {
  readonly promise: string;
}

export interface Played<Found extends BrokenPromise> {
  readonly violation: Found | undefined;
  readonly trace: readonly string[];
  readonly counts: ReadonlyMap<string, number>;
}

/** @returns the smallest plan found after so many tries at most, and how many were made */
export async function shrink<Plan>(
  plan: Plan,
  promise: string,
  {
    smaller,
    simulate,
  }: {
    readonly smaller: (plan: Plan) => Iterable<Plan>;
    readonly simulate: (plan: Plan) => Promise<Pick<Played<BrokenPromise>, 'violation'>>;
  },
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
