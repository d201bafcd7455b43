import type { ComponentChildren, JSX } from 'preact';
import { Steps } from '../../components/steps.tsx';
import { t } from '../../language/language.ts';

export const STEPS = ['what', 'where', 'kit', 'run'] as const;
export type Step = (typeof STEPS)[number];

export function isStep(name: string | undefined): name is Step {
  return STEPS.some((step) => step === name);
}

/** The title of the page is that of the step: a screen reader starts there after each step. */
export function StepHead({
  step,
  title,
  lead,
  isDone = false,
}: {
  readonly step: Step;
  readonly title: ComponentChildren;
  readonly lead?: string;
  /** Whether nothing is left to do in the step. */
  readonly isDone?: boolean;
}): JSX.Element {
  return (
    <>
      <Steps
        label={t.firstRun.stepsLabel}
        steps={STEPS.map((name) => t.firstRun.steps[name])}
        current={STEPS.indexOf(step) + (isDone ? 1 : 0)}
      />
      <h1 tabIndex={-1}>{title}</h1>
      {lead === undefined ? null : <p class="lead">{lead}</p>}
    </>
  );
}
