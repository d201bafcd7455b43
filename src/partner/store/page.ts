/** Lists are given in pages, newest first: an id begins with the time of its making. */
export interface PageRequest {
  /** 1 to 100. */
  readonly limit: number;
  /** The id that the page before ended with. */
  readonly before?: string | undefined;
}

export interface Page<T> {
  readonly items: readonly T[];
  /** Where the next page begins: what `before` has to be; undefined at the end. */
  readonly next: string | undefined;
}

/** `rows`: one more than the limit, when there are more. */
export function pageOf<Row extends { readonly id: string }, T>(
  rows: readonly Row[],
  limit: number,
  present: (row: Row) => T,
): Page<T> {
  const shown = rows.slice(0, limit);
  return { items: shown.map(present), next: rows.length > limit ? shown.at(-1)?.id : undefined };
}
