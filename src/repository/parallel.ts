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
