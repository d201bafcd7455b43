/** What a reply says: its data, or the error that it is. */
import { HoldfastError } from './holdfast-error.ts';

/**
 * Of a reply with a status of success; the whole `Response` where it is no JSON.
 * @param base where it was asked for
 */
export async function dataOf(
  response: Response,
  base: string,
  signal: AbortSignal | undefined,
): Promise<unknown> {
  if (!isJson(response)) return response;
  const reply = await readJson(response, base, signal);
  if (isRecord(reply) && reply['success'] === true) return reply['data'];
  throw unexpectedReply(response, base);
}

/** Of a reply with any other status. */
export async function errorOf(
  response: Response,
  base: string,
  signal: AbortSignal | undefined,
): Promise<HoldfastError> {
  const reply = await readJson(response, base, signal);
  const { error, meta } = isRecord(reply) ? reply : {};
  const { code, message, details } = isRecord(error) ? error : {};
  if (typeof code !== 'string' || typeof message !== 'string') return unexpectedReply(response, base);
  return new HoldfastError({
    code,
    message,
    details: isRecord(details) ? details : {},
    status: response.status,
    requestId: requestIdOf(response, meta),
    retryAfterSeconds: retryAfterOf(response),
  });
}

export function connectionFailed(base: string, cause: unknown): HoldfastError {
  return new HoldfastError({
    code: 'CONNECTION_FAILED',
    message: `${new URL(base).origin} did not answer, or its answer broke off. Check that Holdfast is running there, then try again.`,
    cause,
  });
}

function unexpectedReply(response: Response, base: string): HoldfastError {
  return new HoldfastError({
    code: 'UNEXPECTED_REPLY',
    message: `${new URL(base).origin} is not Holdfast, or something in between answers in its place (status ${response.status}). Check the address.`,
    status: response.status,
    requestId: requestIdOf(response, undefined),
    retryAfterSeconds: retryAfterOf(response),
  });
}

function requestIdOf(response: Response, meta: unknown): string | undefined {
  const id = isRecord(meta) ? meta['request_id'] : undefined;
  return typeof id === 'string' ? id : (response.headers.get('x-request-id') ?? undefined);
}

/** Both services say it in whole seconds. */
function retryAfterOf(response: Response): number | undefined {
  const text = response.headers.get('retry-after') ?? '';
  return /^\d{1,9}$/.test(text) ? Number(text) : undefined;
}

function isJson(response: Response): boolean {
  return /^application\/json\b/.test(response.headers.get('content-type') ?? '');
}

/** Undefined when it is none. */
async function readJson(response: Response, base: string, signal: AbortSignal | undefined): Promise<unknown> {
  let text: string;
  try {
    text = await response.text();
  } catch (error) {
    signal?.throwIfAborted();
    throw connectionFailed(base, error);
  }
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
