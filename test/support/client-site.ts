/** A client of the Desktop API before a scripted server, by a clock that the test moves. */
import { type DesktopClient, desktopClient } from '../../src/client/desktop-client.ts';
import { type ManualClock, manualClock } from './manual-clock.ts';
import {
  type AskedRequest,
  type ScriptedReply,
  type ScriptedServer,
  startScriptedServer,
} from './scripted-server.ts';

export interface ClientSite extends AsyncDisposable {
  readonly client: DesktopClient;
  readonly server: ScriptedServer;
  readonly clock: ManualClock;
  /** What was asked, without the requests for tokens. */
  readonly asked: () => readonly AskedRequest[];
  /** Moves the clock until the promise is settled, a second at a time; gives how far. */
  secondsUntil(promise: Promise<unknown>): Promise<number>;
}

/** Tokens are `token-1`, `token-2`, …, and good for an hour; all else is answered by the test. */
export async function openClientSite(
  answer: (request: AskedRequest, count: number) => ScriptedReply,
): Promise<ClientSite> {
  const server = await startScriptedServer((request, count) =>
    request.target === 'POST /v1/auth/token'
      ? data({ access_token: `token-${count}`, expires_in: 3_600 })
      : answer(request, count),
  );
  const clock = manualClock();
  const client = desktopClient({ address: server.address, apiKey: 'hfk_a', secret: 'hfs_b' }, clock);
  return {
    client,
    server,
    clock,
    asked: () => server.asked.filter(({ target }) => !target.endsWith('/auth/token')),
    async secondsUntil(promise) {
      const settled = promise.then(
        () => true,
        () => true,
      );
      const isSettledWithin = async (ms: number): Promise<boolean> =>
        await Promise.race([settled, new Promise<false>((resolve) => setTimeout(() => resolve(false), ms))]);
      for (let seconds = 0; ;) {
        // What is on its way over a connection arrives first.
        for (let turn = 0; turn < 400 && clock.sleeping() === 0; turn += 1)
          if (await isSettledWithin(5)) return seconds;
        if (await isSettledWithin(0)) return seconds;
        await clock.advance(1_000);
        seconds += 1;
      }
    },
    [Symbol.asyncDispose]: async () => await server[Symbol.asyncDispose](),
  };
}

export function data(value: object): ScriptedReply {
  return {
    body: {
      success: true,
      data: value,
      meta: { request_id: 'req_1', timestamp: '2026-11-21T00:00:00.000Z' },
    },
  };
}

export function refusal(
  status: number,
  code: string,
  more: Omit<ScriptedReply, 'status' | 'body'> = {},
): ScriptedReply {
  const error = { code, message: `This is ${code}.`, details: { path: '/a' } };
  return { status, ...more, body: { success: false, error, meta: { request_id: 'req_2', timestamp: 'x' } } };
}
