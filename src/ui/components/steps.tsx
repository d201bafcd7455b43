import type { JSX } from 'preact';

/** Where somebody is on a way of a few steps. */
export function Steps({
  label,
  steps,
  current,
}: {
  readonly label: string;
  readonly steps: readonly string[];
  /** Position of the one that is shown. */
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
