/** A request with an Idempotency-Key whose agent is killed before it has answered. */
// Turn 3 of 8.
import { once } from 'node:events';
import type { ChildProcess } from 'node:child_process';
import { createInterface } from 'node:readline';
import { expect, test } from 'vitest';
import { jsonLines, openPlace, type Place } from '../support/cli.ts';

const fresh = { env: { HOLDFAST_REPOSITORY: undefined, HOLDFAST_PASSWORD: undefined } };

async function start(place: Place): Promise<{ agent: ChildProcess; address: string }> {
  const agent = place.start(['start', '--port', '0', '--json'], fresh);
  agent.stderr?.resume();
  for await (const line of createInterface(agent.stdout ?? process.stdin)) {
    agent.stdout?.resume();
    return { agent, address: (JSON.parse(line) as { address: string }).address };
  }
  throw new Error('the agent ended at once');
}

async function end(agent: ChildProcess, signal: NodeJS.Signals): Promise<void> {
  const ended = once(agent, 'exit');
  agent.kill(signal);
  await ended;
}

type Reply = {
  readonly status: number;
  readonly replayed: string | null;
  readonly data: { readonly id: string };
};

async function post(address: string, path: string, body: object, headers: object = {}): Promise<Reply> {
  const reply = await fetch(`${address}/v1${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify(body),
  });
  const { data } = (await reply.json()) as Reply;
  return { status: reply.status, replayed: reply.headers.get('idempotent-replayed'), data };
}

test('has one effect: who repeats it is told of the job that it has made', async () => {
  await using place = await openPlace();
  await place.write({ a: 'x' });
  const first = await start(place);
  const [made] = jsonLines(
    await place.expectRun(['credentials', 'create', '--name', 'test', '--json'], 0, fresh),
  );
  const signIn = async (address: string): Promise<object> => {
    const login = { api_key: made?.['api_key'], secret: made?.['secret'] };
    const { data } = await post(address, '/auth/token', login);
    return { authorization: `Bearer ${String((data as { access_token?: string }).access_token)}` };
  };
  // So that the job waits, and the request with it.
  await place.expectRun(['pause'], 0, fresh);
  const key = { 'idempotency-key': 'once' };
  const body = { source: place.source };
  const headers = { ...(await signIn(first.address)), ...key, prefer: 'wait=60' };
  const unanswered = post(first.address, '/backup', body, headers).catch((error: unknown) => error);
  await expect
    .poll(async () => (await place.expectRun(['jobs', '--json'], 0, fresh)).stdout, { timeout: 30_000 })
    .toContain('bkp_');
  await end(first.agent, 'SIGKILL');
  expect(await unanswered).toBeInstanceOf(Error);

  const second = await start(place);
  const repeated = await post(second.address, '/backup', body, { ...(await signIn(second.address)), ...key });
  const jobs = jsonLines(await place.expectRun(['jobs', '--json'], 0, fresh));
  expect(repeated).toMatchObject({ status: 202, replayed: 'true' });
  expect(jobs.map(({ id }) => id)).toEqual([repeated.data.id]);
  await end(second.agent, 'SIGTERM');
});
