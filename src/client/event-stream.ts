/** Server-sent events: their form, and following them beyond the end of a connection. */
import { HoldfastError } from './holdfast-error.ts';
import { growingPauseMs } from './pauses.ts';
import { connectionFailed } from './replies.ts';
import type { Connection } from './connection.ts';
import { NEVER, send } from './requests.ts';

export interface StreamMessage {
  /** Undefined for one that only repeats the state of a job. */
  readonly id: string | undefined;
  readonly data: string;
}

export interface Following {
  /** Id of the last event that is known. */
  readonly after?: string | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** As the agent asks for it; longer each time, so that connections that do not last use up no plan. */
const FIRST_PAUSE_MS = 3_000;
const LASTING_MS = 60_000;
/** An agent that is restarted or updated is there again by then. */
const LONGEST_ABSENCE_MS = 60_000;

/**
 * The messages of a stream, one request for each connection: a connection ends with its token after an hour, or when the
 * agent ends. Then another one goes on behind the last message.
 * @throws {HoldfastError} at once when the first connection fails, later when the agent is away for a minute
 */
export async function* follow(
  connection: Connection,
  route: string,
  { path, after, signal }: Following & { readonly path?: Readonly<Record<string, string>> },
): AsyncGenerator<StreamMessage, void, undefined> {
  const { clock } = connection;
  let lastId = after;
  let heardAt: number | undefined;
  for (let brief = 0; ; brief += 1) {
    const begunAt = clock.monotonic();
    let askedToPauseMs: number | undefined;
    try {
      const headers = { 'last-event-id': lastId };
      const response = await send(connection, 'GET', route, { path, headers, signal });
      heardAt = clock.monotonic();
      for await (const message of messagesOf(response, connection.base, signal)) {
        lastId = message.id ?? lastId;
        yield message;
        heardAt = clock.monotonic();
      }
    } catch (error) {
      signal?.throwIfAborted();
      if (!(error instanceof HoldfastError) || heardAt === undefined) throw error;
      const isAway = error.code === 'CONNECTION_FAILED' || error.status === 503;
      if (!isAway && error.status !== 429) throw error;
      if (isAway && clock.monotonic() - heardAt > LONGEST_ABSENCE_MS) throw error;
      askedToPauseMs = error.retryAfterSeconds === undefined ? undefined : error.retryAfterSeconds * 1_000;
    }
    if (clock.monotonic() - begunAt > LASTING_MS) brief = 0;
    await clock.sleep(askedToPauseMs ?? growingPauseMs(FIRST_PAUSE_MS, brief), signal ?? NEVER);
  }
}

/** Ends with the connection. */
async function* messagesOf(
  response: Response,
  base: string,
  signal: AbortSignal | undefined,
): AsyncGenerator<StreamMessage, void, undefined> {
  const decoder = new TextDecoder();
  const reader = response.body?.getReader();
  if (reader === undefined) return;
  let text = '';
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      const parts = (text + decoder.decode(value, { stream: true })).split('\n\n');
      text = parts.pop() ?? '';
      yield* parts.flatMap(messageOf);
    }
  } catch (error) {
    signal?.throwIfAborted();
    throw connectionFailed(base, error);
  } finally {
    // Whoever has heard enough leaves, and the agent stops telling.
    await reader.cancel().catch(() => undefined);
  }
}

/** None for comments, which keep the connection open, and for the pause that the agent asks for. */
function messageOf(block: string): readonly StreamMessage[] {
  const field = (name: string): string | undefined =>
    block
      .split('\n')
      .find((line) => line.startsWith(`${name}: `))
      ?.slice(name.length + 2);
  const data = field('data');
  return data === undefined ? [] : [{ id: field('id'), data }];
}
