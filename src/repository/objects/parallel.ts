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
 * Looks at the items in turn and gives what comes of each, in their order, to whoever stops at the first that will do. It is
 * nearly always the first, which is looked at alone; where strangers have put thousands before it, the others come `limit` at
 * a time. A failure is thrown when it is its turn.
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
