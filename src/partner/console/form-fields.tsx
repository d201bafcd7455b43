/** Forms of the settings page, with the token that proves that this session made them. */
import type { ComponentChildren, JSX } from 'preact';
import { AskFirst, Button, type ButtonLook } from '../../ui/components/button.tsx';
import { type Choice, Select, TextField, type TextFieldFacts } from '../../ui/components/field.tsx';
import type { Visitor } from './visitor.ts';

export type { ButtonLook } from '../../ui/components/button.tsx';
export type { Choice } from '../../ui/components/field.tsx';

/** Name of the field with the token that proves that this session made the form. */
export const FORM_TOKEN = 'form_token';

export function formTokenField({ formToken }: Pick<Visitor, 'formToken'>): JSX.Element {
  return hidden(FORM_TOKEN, formToken);
}

export function hidden(name: string, value: string): JSX.Element {
  return <input type="hidden" name={name} value={value} />;
}

/** The problems of a form: a sentence for each field concerned. */
export type Problems = Readonly<Record<string, string>>;

export interface FieldFacts extends Pick<
  TextFieldFacts,
  'name' | 'type' | 'value' | 'autocomplete' | 'inputmode'
> {
  readonly label: string;
  readonly hint?: ComponentChildren;
  readonly optional?: boolean;
  readonly longest?: number;
}

export function field(
  { optional = false, longest = 500, ...facts }: FieldFacts,
  problems: Problems = {},
): JSX.Element {
  const { name, value = '' } = facts;
  return (
    <TextField
      {...facts}
      value={value}
      maxLength={longest}
      required={!optional}
      optional={optional ? 'optional' : undefined}
      problem={problems[name]}
    />
  );
}

export function select(
  name: string,
  label: string,
  choices: readonly Choice[],
  chosen: string,
  problems: Problems = {},
): JSX.Element {
  return <Select name={name} label={label} choices={choices} value={chosen} problem={problems[name]} />;
}

export function button(label: string, look?: ButtonLook): JSX.Element {
  return look === undefined ? <Button>{label}</Button> : <Button look={look}>{label}</Button>;
}

/** A form that posts to `action`; `content` holds its fields and its button. */
export function form(visitor: Visitor, action: string, content: ComponentChildren): JSX.Element {
  return (
    <form method="post" action={action}>
      {formTokenField(visitor)}
      {content}
    </form>
  );
}

/** A button that first explains its effect and asks for confirmation. */
export function askFirst(
  label: string,
  look: ButtonLook | undefined,
  question: ComponentChildren,
  answer: JSX.Element,
): JSX.Element {
  const facts = { label, question, ...(look === undefined ? {} : { look }) };
  return <AskFirst {...facts}>{answer}</AskFirst>;
}
