/**
 * Runs `work` over the items, at most `limit` at once, and returns the results in the items' order. The first failure
 * stops new work from beginning and is thrown once what is under way has ended.
 */
export async function mapParallel<T, R>(
  items: Iterable<T>,
  limit: number,
  work: (item: T) => Promise<R>,
): Promise<R[]> {
  const results: R[] = [];
  const failures: unknown[] = [];
  const queue = [...items].entries();
  const drain = async (): Promise<void> => {
    for (const [i, item] of queue) {
      try {
        results[i] = await work(item);
      } catch (error) {
        failures.push(error);
      }
      if (failures.length > 0) return;
    }
  };
  await Promise.all(Array.from({ length: Math.max(1, limit) }, drain));
  if (failures.length > 0) throw failures[0];
  return results;
}

/**
 * Yields `look` of each item, in order, for callers that stop at the first usable result. The first item nearly always
 * is usable, so it is looked at alone; the others follow `limit` at a time, since strangers may have planted thousands.
 * A failure is thrown when its turn comes.
 */
export async function* inTurn<T, R>(
  items: readonly T[],
  limit: number,
  look: (item: T) => Promise<R>,
): AsyncGenerator<R, void, undefined> {
  let width = 1;
  for (let at = 0; at < items.length;) {
    const outcomes = await Promise.allSettled(items.slice(at, at + width).map(look));
    at += width;
    width = Math.max(1, limit);
    for (const outcome of outcomes) {
      if (outcome.status === 'rejected') throw outcome.reason;
      yield outcome.value;
    }
  }
}
