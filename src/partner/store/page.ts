/** A page of a list. Lists are newest first, since ids begin with their time of creation. */
export interface PageRequest {
  /** 1 to 100. */
  readonly limit: number;
  /** Id of the last item of the previous page. */
  readonly before?: string | undefined;
}

export interface Page<T> {
  readonly items: readonly T[];
  /** The value of `before` for the next page; undefined at the end. */
  readonly next: string | undefined;
}

/** @param rows one more than the limit if there are more */
export function pageOf<Row extends { readonly id: string }, T>(
  rows: readonly Row[],
  limit: number,
  present: (row: Row) => T,
): Page<T> {
  const shown = rows.slice(0, limit);
  return { items: shown.map(present), next: rows.length > limit ? shown.at(-1)?.id : undefined };
}
