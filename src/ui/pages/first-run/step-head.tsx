import type { ComponentChildren, JSX } from 'preact';
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

/** Shows which of a few steps the user is at. */
function Steps({
  label,
  steps,
  current,
}: {
  readonly label: string;
  readonly steps: readonly string[];
  /** Index of the current step. */
  readonly current: number;
}): JSX.Element {
  return (
    <ol class="steps" aria-label={label}>
      {steps.map((step, index) => (
        <li
          key={step}
          class={index < current ? 'past' : undefined}
          aria-current={index === current ? 'step' : undefined}
        >
          <span aria-hidden="true">{index < current ? '✓' : index + 1}</span>
          {step}
        </li>
      ))}
    </ol>
  );
}
