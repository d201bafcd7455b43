/** Lets one program of a simulation run to its end, and time pass where it waits. */
import type { Machine } from '../simulator/machine.ts';
import type { World } from '../simulator/world.ts';
import { Broken } from './promises.ts';

/** Longer than anything that one program waits for. */
const LIMIT_MS = 30 * 86_400_000;

/**
 * @param isOver ends it before it has come to its end
 * @throws what `work` rejects with; Broken when it never comes to its end
 */
export async function runAlone<T>(
  world: World,
  machine: Machine,
  work: () => Promise<T>,
  isOver: () => boolean = () => false,
): Promise<T> {
  const outcomes: ({ readonly value: T } | { readonly error: unknown })[] = [];
  world.events.add(world.nowMs, () => {
    world.current = machine;
    work().then(
      (value) => void outcomes.push({ value }),
      (error: unknown) => void outcomes.push({ error }),
    );
  });
  const ended = await world.run(
    () => outcomes.length > 0 || isOver(),
    world.nowMs + LIMIT_MS,
    async () => {},
  );
  const [settled] = outcomes;
  if (settled === undefined) throw new Broken('bounded', `${machine.name} never comes to an end (${ended})`);
  if ('error' in settled) throw settled.error;
  return settled.value;
}
