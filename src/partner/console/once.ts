/**
 * A form that makes something has it made once, however often it is sent: a page that is loaded again sends its form again,
 * and would make another key in the place of the one that is shown. In all instances, as with `Idempotency-Key`.
 */
import { randomUUID } from 'node:crypto';
import { ApiError } from '../../api/wire/api-error.ts';
import type { PartnerStores } from '../store/store.ts';
import { hidden } from './form-fields.tsx';
import type { Form } from './form.ts';
import type { JSX } from 'preact';

const FORM_ID = 'form_id';

export function onceField(): JSX.Element {
  return hidden(FORM_ID, randomUUID());
}

/**
 * Does the work unless this form had it done already; undefined then, or when it is being done. Nothing counts as done when
 * the work throws. @throws {ApiError} INVALID_REQUEST for a form without an id
 */
export async function once<T>(
  { idempotency }: Pick<PartnerStores, 'idempotency'>,
  partnerId: string,
  form: Form,
  work: () => Promise<T>,
): Promise<T | undefined> {
  const key = form.text(FORM_ID);
  if (!/^[\w-]{1,64}$/.test(key))
    throw new ApiError('INVALID_REQUEST', 'The form is incomplete', { hint: 'Open the page again.' });
  const verdict = await idempotency.begin({ partnerId, key, route: 'settings page' }, '');
  if (verdict.kind !== 'new') return undefined;
  try {
    const made = await work();
    // What the form showed is not kept: it may be a secret.
    await idempotency.finish(verdict.running, { status: 200, headers: {}, body: '' });
    return made;
  } catch (error) {
    await idempotency.abandon(verdict.running);
    throw error;
  }
}
