/**
 * Makes a form take effect only once, however often it is sent. A reloaded page sends its form again, and would for
 * example replace the key that it has just shown. Works across instances, like `Idempotency-Key`.
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
 * Does the work unless this form has done it already, or is doing it, in which case the result is undefined. When the
 * work throws, it may be done again.
 * @throws {ApiError} INVALID_REQUEST for a form without an id
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
    // The result is not stored, since it may be a secret.
    await idempotency.finish(verdict.running, { status: 200, headers: {}, body: '' });
    return made;
  } catch (error) {
    await idempotency.abandon(verdict.running);
    throw error;
  }
}
