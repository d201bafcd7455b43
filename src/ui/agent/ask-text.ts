/** Fetches replies that are plain text. */
import { addressOf, AskError } from './ask.ts';

/** @throws {AskError} */
export async function askText(path: string): Promise<string> {
  let response: Response;
  try {
    response = await fetch(addressOf(path), {
      credentials: 'same-origin',
      cache: 'no-store',
      redirect: 'error',
      referrerPolicy: 'no-referrer',
    });
  } catch (error) {
    throw new AskError(
      'OFFLINE',
      0,
      error instanceof Error ? error.message : 'The agent does not answer',
      {},
    );
  }
  const text = await response.text();
  if (response.ok) return text;
  const { error } = JSON.parse(text) as {
    readonly error: {
      readonly code: string;
      readonly message: string;
      readonly details: Record<string, unknown>;
    };
  };
  throw new AskError(error.code, response.status, error.message, error.details);
}
