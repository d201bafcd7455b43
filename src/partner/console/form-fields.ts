/** Fields and buttons of forms, each with its label, and its problem beside it. */
import { html, type Markup, type Part } from './markup.ts';
import type { Visitor } from './visitor.ts';

/** The name of the field by which a form shows that this session made it. */
export const FORM_TOKEN = 'form_token';

export function formTokenField({ formToken }: Pick<Visitor, 'formToken'>): Markup {
  return hidden(FORM_TOKEN, formToken);
}

export function hidden(name: string, value: string): Markup {
  return html`<input type="hidden" name="${name}" value="${value}" />`;
}

/** What is wrong with a form: a sentence for each field that it is about. */
export type Problems = Readonly<Record<string, string>>;

export interface FieldFacts {
  readonly name: string;
  readonly label: string;
  readonly type?: 'text' | 'email' | 'password' | 'url';
  readonly value?: string;
  readonly hint?: Part;
  readonly autocomplete?: string;
  readonly inputmode?: 'numeric' | 'text';
  readonly optional?: boolean;
  readonly longest?: number;
}

export function field(facts: FieldFacts, problems: Problems = {}): Markup {
  const { name, label, type = 'text', value = '', hint, autocomplete = 'off', inputmode = 'text' } = facts;
  const problem = problems[name];
  const about = [hint === undefined ? '' : `${name}-hint`, problem === undefined ? '' : `${name}-problem`];
  return html`<div class="field">
    <label for="${name}"
      >${label}${facts.optional === true ? html` <span class="quiet small-text">(optional)</span>` : null}</label
    >
    <input
      id="${name}"
      name="${name}"
      type="${type}"
      value="${value}"
      autocomplete="${autocomplete}"
      inputmode="${inputmode}"
      maxlength="${facts.longest ?? 500}"
      aria-describedby="${about.join(' ').trim()}"
      spellcheck="false"
      ${facts.optional === true ? null : html` required`}${
        problem === undefined ? null : html` aria-invalid="true"`
      }
    />
    ${problem === undefined ? null : html`<p class="problem" id="${name}-problem">${problem}</p>`}
    ${hint === undefined ? null : html`<p class="hint" id="${name}-hint">${hint}</p>`}
  </div>`;
}

export interface Choice {
  readonly value: string;
  readonly label: string;
}

export function select(
  name: string,
  label: string,
  choices: readonly Choice[],
  chosen: string,
  problems: Problems = {},
): Markup {
  const problem = problems[name];
  return html`<div class="field">
    <label for="${name}">${label}</label>
    <select
      id="${name}"
      name="${name}"
      ${problem === undefined ? null : html` aria-invalid="true" aria-describedby="${name}-problem"`}
    >
      ${choices.map(
        (choice) =>
          html`<option value="${choice.value}" ${choice.value === chosen ? html` selected` : null}>
            ${choice.label}
          </option>`,
      )}
    </select>
    ${problem === undefined ? null : html`<p class="problem" id="${name}-problem">${problem}</p>`}
  </div>`;
}

export type ButtonLook = 'main-action' | 'danger' | 'plain' | 'plain danger' | '';

export function button(label: string, look: ButtonLook = ''): Markup {
  return html`<button class="${look}">${label}</button>`;
}

/** A form that posts to `action`; `content` holds its fields and its button. */
export function form(visitor: Visitor, action: string, content: Part): Markup {
  return html`<form method="post" action="${action}">${formTokenField(visitor)}${content}</form>`;
}

/** A button that first says what would happen, and asks. */
export function askFirst(label: string, look: ButtonLook, question: Part, answer: Markup): Markup {
  return html`<details class="ask">
    <summary class="button ${look}">${label}</summary>
    <p>${question}</p>
    ${answer}
  </details>`;
}
