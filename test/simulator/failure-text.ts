/** What a person is told of a promise that was broken. */
import type { Plan } from './plan.ts';
import type { Violation } from './promises.ts';

/** Of the trace: what came before does not explain much. */
const LINES = 150;

export function failureText(plan: Plan, violation: Violation, trace: readonly string[]): string {
  const machines = plan.machines.map(({ name, operations, faults, cloneOf }) => {
    const done = operations.map((one) => `${one.do} at ${(one.atMs / 1_000).toFixed(1)} s`);
    const hit = faults.map(
      ({ kind, step, at, ms, duringMs }) =>
        `${kind} from call ${step}${at === undefined ? '' : ` at ${at}`}${duringMs === undefined ? '' : ` of what begins at ${duringMs / 1_000} s`}, ${ms} ms`,
    );
    return [
      `  ${name}${cloneOf === undefined ? '' : `, a copy of ${cloneOf}`}`,
      ...done.map((line) => `    does   ${line}`),
      ...hit.map((line) => `    suffers ${line}`),
    ].join('\n');
  });
  const cause =
    violation.cause instanceof Error ? [`cause: ${violation.cause.stack ?? violation.cause.message}`] : [];
  return [
    `seed ${plan.seed} breaks ${violation.message}`,
    ...cause,
    `the smallest plan that does, on a storage of ${plan.storage}${plan.conditionalCreate ? '' : ' without conditional creation'}:`,
    ...machines,
    `the last of what happened (all of it: npm run test:simulator -- --seed ${plan.seed} --replay):`,
    ...trace.slice(-LINES).map((line) => `  ${line}`),
  ].join('\n');
}
