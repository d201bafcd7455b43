/** Guesses which known name was meant. */

/** The known name that differs in the fewest letters, or undefined when none is near. */
export function nearestName(name: string, known: readonly string[]): string | undefined {
  // Longer names are no typing errors, and comparing them would take long.
  if (name.length > 40) return undefined;
  const wanted = plain(name);
  const most = Math.max(1, Math.floor(wanted.length / 3));
  const [nearest] = known
    .map((candidate) => ({ candidate, distance: editDistance(wanted, plain(candidate)) }))
    .filter(({ candidate, distance }) => distance <= most || isPart(wanted, plain(candidate)))
    .sort((a, b) => a.distance - b.distance);
  return nearest?.candidate;
}

/** Makes `keep_daily` and `KeepDaily` equal to `keepDaily`. */
function plain(name: string): string {
  return name.toLowerCase().replaceAll(/[^a-z0-9$]/g, '');
}

function isPart(wanted: string, candidate: string): boolean {
  return wanted.length >= 4 && (candidate.includes(wanted) || wanted.includes(candidate));
}

/** The number of letters to insert, drop, replace or swap with their neighbour (optimal string alignment). */
function editDistance(a: string, b: string): number {
  let beforeLast: readonly number[] = [];
  let last: readonly number[] = Array.from({ length: b.length + 1 }, (_, index) => index);
  for (let i = 1; i <= a.length; i += 1) {
    const row = [i];
    for (let j = 1; j <= b.length; j += 1) {
      const replaced = (last[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1);
      let best = Math.min(replaced, (last[j] ?? 0) + 1, (row[j - 1] ?? 0) + 1);
      if (i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1])
        best = Math.min(best, (beforeLast[j - 2] ?? 0) + 1);
      row.push(best);
    }
    beforeLast = last;
    last = row;
  }
  return last[b.length] ?? 0;
}
