/** The empty repository with which every simulation begins, made once a process. */
import type { Secret } from '../../src/repository/slots/key-slots.ts';
import { createRepository } from '../../src/repository/opening.ts';
import { directDestination } from './direct-destination.ts';
import { Machine } from './machine.ts';
import { enterSimulation } from './process-hooks.ts';
import { ObjectStorage } from './storage.ts';
import { World } from './world.ts';

export const secret: Secret = { kind: 'machine', secret: Buffer.alloc(32, 7) };

let image: ReadonlyMap<string, Buffer> | undefined;
let present: World | undefined;

/** From now on programs run in this world. */
export function enterWorld(world: World): void {
  present = world;
}

/** Its objects by key: the same in all simulations. */
export async function repositoryImage(): Promise<ReadonlyMap<string, Buffer>> {
  if (image !== undefined) return image;
  const world = new World({ traced: false });
  const machine = new Machine(world, 'first', 1);
  const storage = new ObjectStorage(world, { coarseTimes: false });
  enterWorld(world);
  world.current = machine;
  enterSimulation(() => present?.current);
  const destination = directDestination(storage, (key, body) => void storage.put(key, body));
  const { signal } = new AbortController();
  await createRepository(
    destination,
    {
      clock: machine.clock,
      stateDirectory: undefined,
      secrets: [{ secret, label: 'simulation' }],
      cost: { m: 64, t: 1, p: 1 },
      packTarget: 65_536,
      segmentTarget: 65_536,
    },
    signal,
  );
  image = new Map(storage.keys().map((key) => [key, storage.get(key)?.body ?? Buffer.alloc(0)]));
  return image;
}
