/** Fetches the bytes of a file in a snapshot. */
import { AskError, addressOf, withQuery } from './ask.ts';

export interface ContentAsked {
  readonly snapshot: string;
  /** `path` or `path_b64`. */
  readonly path: Readonly<Record<string, string>>;
}

/** The address at which a browser downloads the file. */
export function contentAddress({ snapshot, path }: ContentAsked): string {
  return addressOf(withQuery('/files/content', { snapshot, ...path }));
}

/**
 * The first `most` bytes of a file, or all of a smaller one.
 * @throws {AskError} and the reason of `signal`
 */
export async function fetchContent(
  asked: ContentAsked,
  most: number,
  signal: AbortSignal,
): Promise<Uint8Array<ArrayBuffer>> {
  let response: Response;
  try {
    response = await fetch(contentAddress(asked), {
      headers: { range: `bytes=0-${most - 1}` },
      credentials: 'same-origin',
      cache: 'no-store',
      redirect: 'error',
      signal,
    });
    if (response.ok) return new Uint8Array(await response.arrayBuffer());
  } catch (error) {
    signal.throwIfAborted();
    const message = error instanceof Error ? error.message : 'The agent does not answer';
    throw new AskError('OFFLINE', 0, message, {});
  }
  // The agent refuses a range of an empty file.
  if (response.status === 416) return new Uint8Array();
  const { error } = (await response.json()) as {
    readonly error?: Pick<AskError, 'code' | 'message' | 'details'>;
  };
  throw new AskError(
    error?.code ?? 'INTERNAL_ERROR',
    response.status,
    error?.message ?? '',
    error?.details ?? {},
  );
}
