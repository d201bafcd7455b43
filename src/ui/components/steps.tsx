import type { JSX } from 'preact';

/** Shows which of a few steps the user is at. */
export function Steps({
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
