import { expect, test } from 'vitest';
import type { Listening } from '../../../src/api/connections/listening.ts';
import { StateError } from '../../../src/base/errors.ts';
import { listenAsChosen, type ChosenPort } from '../../../src/daemon/serving.ts';

/** What listening gives where these ports are taken, and which were tried. */
async function listen(chosen: ChosenPort, taken: readonly number[]) {
  const tried: number[] = [];
  const listening = await listenAsChosen(chosen, async (port): Promise<Listening> => {
    tried.push(port);
    if (taken.includes(port)) throw new StateError('PORT_TAKEN', 'taken');
    return await Promise.resolve({ port, hosts: [], notes: [] });
  }).catch((error: unknown) => error);
  return { listening, tried };
}

test('the usual port is listened on where it is free', async () => {
  expect((await listen({ typed: undefined, set: 7390 }, [])).listening).toEqual({
    port: 7390,
    hosts: [],
    notes: [],
  });
});

test('where the agent of somebody else has it, the next one that is free, and that is said', async () => {
  const { listening, tried } = await listen({ typed: undefined, set: 7390 }, [7390, 7391]);
  expect(tried).toEqual([7390, 7391, 7392]);
  expect(listening).toMatchObject({ port: 7392, notes: [expect.stringContaining('listens on 7392')] });
});

test('ten are tried', async () => {
  const all = Array.from({ length: 20 }, (_, i) => 7390 + i);
  const { listening, tried } = await listen({ typed: undefined, set: 7390 }, all);
  expect(tried).toHaveLength(10);
  expect(listening).toMatchObject({ code: 'PORT_TAKEN' });
});

test.each<ChosenPort>([
  { typed: 7390, set: 7390 },
  { typed: undefined, set: 8000 },
])('a port that somebody chose is that one or none: %j', async (chosen) => {
  const port = chosen.typed ?? chosen.set;
  const { listening, tried } = await listen(chosen, [port]);
  expect(tried).toEqual([port]);
  expect(listening).toMatchObject({ code: 'PORT_TAKEN' });
});
