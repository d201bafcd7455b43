/**
 * Whether it was the store that answered. The library takes whatever comes with success for an answer: a page of a proxy
 * would be a list without objects, and without any content even end the process inside the library.
 */
import type { Storage } from '@google-cloud/storage';
import { ForeignAnswer } from './gcs-failure.ts';

type Ask = Storage['request'];
type Answer = Parameters<Ask>[1];

/** Each call but the reading of content goes through here; what is read is of a length that was asked for before. */
export function believeOnlyStore(storage: Storage): Storage {
  const ask = storage.request.bind(storage);
  storage.request = (options: Parameters<Ask>[0], callback: Answer): void => {
    ask(options, (error, body: unknown, response) => {
      const isGood =
        options.method === 'DELETE' ? response?.statusCode === 204 : /^storage#objects?$/.test(kindOf(body));
      callback(error ?? (isGood ? null : new ForeignAnswer()), body, response);
    });
  };
  return storage;
}

/** The store names the kind of all that it answers. */
function kindOf(body: unknown): string {
  return typeof body === 'object' && body !== null && 'kind' in body ? String(body.kind) : '';
}
