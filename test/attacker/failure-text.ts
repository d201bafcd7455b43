/** What a person is told of a promise that an attack broke. */
import { stepText, type AttackPlan } from './plan.ts';
import type { Broken } from './promises.ts';

/** Of the trace: what came before does not explain much. */
const LINES = 250;

export function failureText(plan: AttackPlan, broken: Broken, trace: readonly string[]): string {
  const cause = broken.cause instanceof Error ? [`cause: ${broken.cause.stack ?? broken.cause.message}`] : [];
  return [
    `seed ${plan.seed} breaks ${broken.message}`,
    ...cause,
    `the smallest plan that does, with the power "${plan.power}"${plan.conditionalCreate ? '' : ', without conditional creation'}:`,
    ...plan.steps.map((step) => `  ${stepText(step)}`),
    `the last of what happened (all of it: npm run test:attacker -- --seed ${plan.seed} --replay):`,
    ...trace.slice(-LINES).map((line) => `  ${line}`),
  ].join('\n');
}
