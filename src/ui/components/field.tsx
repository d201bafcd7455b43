/** Form fields, each with its label, a hint, and its problem. */
import type { ComponentChildren, InputHTMLAttributes, JSX } from 'preact';

export interface FieldFacts {
  /** Also the id, so it must be unique on a page. */
  readonly name: string;
  readonly label: ComponentChildren;
  readonly hint?: ComponentChildren;
  /** What is wrong with its value. */
  readonly problem?: string | undefined;
  /** Shown after the label when the field may stay empty, in the reader's language. */
  readonly optional?: string | undefined;
}

interface ControlFacts extends FieldFacts {
  readonly value?: string;
  readonly disabled?: boolean;
  readonly required?: boolean;
  /** Called with each change as it is typed or chosen. Left out when the form is submitted. */
  readonly onValue?: (value: string) => void;
  /** Called when the field is left. */
  readonly onLeave?: () => void;
}

/** The ids of the texts about a field, for `aria-describedby`. */
function describedBy({ name, hint, problem }: FieldFacts): string | undefined {
  const ids = [hint === undefined ? '' : `${name}-hint`, problem === undefined ? '' : `${name}-problem`];
  const text = ids.join(' ').trim();
  return text === '' ? undefined : text;
}

/** The attributes that all controls have. */
function control(facts: ControlFacts) {
  const { name, value, disabled, required, problem } = facts;
  return {
    id: name,
    name,
    'aria-describedby': describedBy(facts),
    'aria-invalid': problem === undefined ? undefined : true,
    ...(value === undefined ? {} : { value }),
    ...(disabled === undefined ? {} : { disabled }),
    ...(required === undefined ? {} : { required }),
    ...(facts.onLeave === undefined ? {} : { onBlur: facts.onLeave }),
  };
}

/** Label, hint and problem around any control whose id is `name`. */
function Field({ children, ...facts }: FieldFacts & { readonly children: ComponentChildren }): JSX.Element {
  const { name, label, hint, problem, optional } = facts;
  return (
    <div class="field">
      <label for={name}>
        {label}
        {optional === undefined ? null : <span class="quiet small-text"> ({optional})</span>}
      </label>
      {children}
      {problem === undefined ? null : (
        <p class="problem" id={`${name}-problem`}>
          {problem}
        </p>
      )}
      {hint === undefined ? null : (
        <p class="hint" id={`${name}-hint`}>
          {hint}
        </p>
      )}
    </div>
  );
}

export interface TextFieldFacts extends ControlFacts {
  readonly type?:
    | 'text'
    | 'email'
    | 'password'
    | 'url'
    | 'number'
    | 'search'
    | 'time'
    | 'date'
    | 'datetime-local';
  readonly placeholder?: string;
  readonly autocomplete?: string;
  readonly inputmode?: 'numeric' | 'text';
  readonly maxLength?: number;
  readonly min?: string | number;
  readonly max?: string | number;
}

export function TextField(facts: TextFieldFacts): JSX.Element {
  const { type = 'text', placeholder, autocomplete = 'off', inputmode, maxLength, min, max, onValue } = facts;
  const input = {
    ...control(facts),
    type,
    autocomplete,
    spellcheck: false,
    ...(placeholder === undefined ? {} : { placeholder }),
    ...(inputmode === undefined ? {} : { inputmode }),
    ...(maxLength === undefined ? {} : { maxLength }),
    ...(min === undefined ? {} : { min }),
    ...(max === undefined ? {} : { max }),
    ...(onValue === undefined
      ? {}
      : {
          onInput: ({ currentTarget }: { currentTarget: HTMLInputElement }) => onValue(currentTarget.value),
        }),
  };
  return (
    <Field {...facts}>
      {/* Preact has a separate type for each type of field. */}
      <input {...(input as InputHTMLAttributes)} />
    </Field>
  );
}

export function TextArea(facts: ControlFacts & { readonly rows?: number }): JSX.Element {
  const { rows = 4, onValue } = facts;
  return (
    <Field {...facts}>
      <textarea
        {...control(facts)}
        rows={rows}
        autocomplete="off"
        spellcheck={false}
        {...(onValue === undefined
          ? {}
          : {
              onInput: ({ currentTarget }: { currentTarget: HTMLTextAreaElement }) =>
                onValue(currentTarget.value),
            })}
      />
    </Field>
  );
}

export interface Choice {
  readonly value: string;
  readonly label: string;
}

export function Select(facts: ControlFacts & { readonly choices: readonly Choice[] }): JSX.Element {
  const { choices, value, onValue } = facts;
  return (
    <Field {...facts}>
      <select
        {...control(facts)}
        {...(onValue === undefined
          ? {}
          : {
              onChange: ({ currentTarget }: { currentTarget: HTMLSelectElement }) =>
                onValue(currentTarget.value),
            })}
      >
        {choices.map((choice) => (
          <option key={choice.value} value={choice.value} selected={choice.value === value}>
            {choice.label}
          </option>
        ))}
      </select>
    </Field>
  );
}

export interface CheckboxFacts extends Pick<FieldFacts, 'name' | 'label' | 'hint'> {
  readonly checked: boolean;
  readonly value?: string;
  readonly disabled?: boolean;
  readonly onChecked?: (isChecked: boolean) => void;
}

export function Checkbox(facts: CheckboxFacts): JSX.Element {
  const { name, label, hint, checked, value, disabled, onChecked } = facts;
  return (
    <div class="field">
      <label class="check" for={name}>
        <input
          {...control({ name, label, hint, ...(disabled === undefined ? {} : { disabled }) })}
          type="checkbox"
          checked={checked}
          {...(value === undefined ? {} : { value })}
          {...(onChecked === undefined
            ? {}
            : {
                onChange: ({ currentTarget }: { currentTarget: HTMLInputElement }) =>
                  onChecked(currentTarget.checked),
              })}
        />
        <span>{label}</span>
      </label>
      {hint === undefined ? null : (
        <p class="hint" id={`${name}-hint`}>
          {hint}
        </p>
      )}
    </div>
  );
}
