/** A choice between explained options: radio buttons in the shape of cards. */
import type { ComponentChildren, JSX } from 'preact';

export interface ChoiceCard<Value extends string> {
  readonly value: Value;
  readonly label: ComponentChildren;
  readonly note?: ComponentChildren;
}

export function ChoiceCards<Value extends string>({
  name,
  legend,
  isLegendUnseen = false,
  value,
  choices,
  onValue,
}: {
  /** Must be unique on a page. */
  readonly name: string;
  readonly legend: ComponentChildren;
  readonly isLegendUnseen?: boolean;
  readonly value: Value | undefined;
  readonly choices: readonly ChoiceCard<Value>[];
  readonly onValue: (value: Value) => void;
}): JSX.Element {
  return (
    <fieldset>
      <legend class={isLegendUnseen ? 'unseen' : undefined}>{legend}</legend>
      <div class="choice-cards">
        {choices.map((choice) => {
          const id = `${name}-${choice.value}`;
          return (
            <label key={choice.value} class="choice-card" for={id}>
              <input
                type="radio"
                id={id}
                name={name}
                value={choice.value}
                checked={choice.value === value}
                aria-labelledby={`${id}-label`}
                aria-describedby={choice.note === undefined ? undefined : `${id}-note`}
                onChange={() => onValue(choice.value)}
              />
              <span>
                <strong id={`${id}-label`}>{choice.label}</strong>
                {choice.note === undefined ? null : <small id={`${id}-note`}>{choice.note}</small>}
              </span>
            </label>
          );
        })}
      </div>
    </fieldset>
  );
}
