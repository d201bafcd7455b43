/** Reads and checks the typed fields of a customer, by the rules of the Partner API. */
import type { Plan } from '../store/plans.ts';
import type { NewCustomer } from '../store/customers.ts';
import type { Choice, Form, Problems } from './forms.tsx';
import { isOneLine } from '../../base/one-line.ts';
import { formatBytes } from '../../base/units.ts';

export const LONGEST_NAME = 200;
export const LONGEST_EMAIL = 254;
export const LONGEST_EXTERNAL_ID = 255;

export interface TypedCustomer {
  readonly name: string;
  readonly email: string;
  readonly externalId: string;
  readonly planId: string;
}

export function typedCustomer(form: Form): TypedCustomer {
  return {
    name: form.text('name'),
    email: form.text('email'),
    externalId: form.text('external_id'),
    planId: form.text('plan_id'),
  };
}

export function customerProblems(typed: TypedCustomer, plans: readonly Plan[]): Problems {
  return {
    ...identityProblems(typed),
    ...(plans.some(({ id, active }) => id === typed.planId && active) ? {} : { plan_id: 'Choose a plan.' }),
  };
}

/** What is wrong with the fields that say who the customer is. */
export function identityProblems({ name, email, externalId }: TypedCustomer): Problems {
  return {
    ...(isLine(name, LONGEST_NAME) && name !== ''
      ? {}
      : { name: `Enter a name of 1 to ${LONGEST_NAME} characters.` }),
    ...(email === '' || isEmail(email)
      ? {}
      : { email: 'Enter an address such as name@example.org, or leave this empty.' }),
    ...(isLine(externalId, LONGEST_EXTERNAL_ID)
      ? {}
      : { external_id: `Use at most ${LONGEST_EXTERNAL_ID} characters, and no control characters.` }),
  };
}

export function newCustomer({ name, email, externalId, planId }: TypedCustomer): NewCustomer {
  return {
    name,
    email: email === '' ? null : email,
    externalId: externalId === '' ? null : externalId,
    planId,
    metadata: {},
  };
}

/** The plans that customers may be given, as choices of a list. */
export function planChoices(plans: readonly Plan[]): readonly Choice[] {
  return plans
    .filter(({ active }) => active)
    .map(({ id, name, storageLimitBytes, deviceLimit }) => ({
      value: id,
      label: `${name} – ${formatBytes(storageLimitBytes)}, ${deviceLimit} ${deviceLimit === 1 ? 'device' : 'devices'}`,
    }));
}

export function isLine(text: string, longest: number): boolean {
  return text.length <= longest && isOneLine(text);
}

function isEmail(text: string): boolean {
  return (
    text.length <= LONGEST_EMAIL &&
    /^[^\s@]+@[^\s@.]+(?:\.[^\s@.]+)+$/.test(text) &&
    isLine(text, LONGEST_EMAIL)
  );
}
