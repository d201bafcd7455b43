/**
 * Makes the Google library reject answers that are not the store's own. It accepts any successful answer: a proxy's
 * page would be taken for a list without objects, and an empty one would even end the process inside the library.
 */
import type { Storage } from '@google-cloud/storage';
import { ForeignAnswer } from './gcs-failure.ts';

type Ask = Storage['request'];
type Answer = Parameters<Ask>[1];

/** Checks all calls except reads of content; for those the length is asked for beforehand and compared. */
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

/** The store names the kind of each resource in its answers. */
function kindOf(body: unknown): string {
  return typeof body === 'object' && body !== null && 'kind' in body ? String(body.kind) : '';
}
