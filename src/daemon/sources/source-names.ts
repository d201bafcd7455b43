/** Display names of sources: shorter than their paths, as long as no two are the same. */
import { basename } from 'node:path';

/** The home directory is returned as `~`, which the user interface replaces by a word. @param paths of all sources */
export function sourceNames(paths: readonly string[], home: string): ReadonlyMap<string, string> {
  const short = (path: string): string => (path === home ? '~' : basename(path) || path);
  const counts = new Map<string, number>();
  for (const path of new Set(paths)) counts.set(short(path), (counts.get(short(path)) ?? 0) + 1);
  return new Map(paths.map((path) => [path, (counts.get(short(path)) ?? 0) > 1 ? path : short(path)]));
}
