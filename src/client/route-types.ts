/** How a table of routes, as the build makes it of docs/api, becomes the types of calls. */

/** What each call takes besides what its route has. */
export interface CallOptions {
  readonly signal?: AbortSignal | undefined;
}

type PathIn<Key, Method extends string> = Key extends `${Method} ${infer Path}` ? Path : never;

/** The paths that have this method. */
export type PathOf<Routes, Method extends string> = PathIn<keyof Routes, Method>;

type RouteOf<Routes, Key> = Key extends keyof Routes ? Routes[Key] : never;

/** What the call of a route resolves with. */
export type DataOf<Routes, Key> = RouteOf<Routes, Key> extends { data: infer Data } ? Data : never;

export type InputOf<Routes, Key> = RouteOf<Routes, Key> extends { input: infer Input } ? Input : never;

/** Left out where a route needs nothing. */
export type CallArguments<Input> =
  Partial<Input> extends Input ? [input?: Input & CallOptions] : [input: Input & CallOptions];

/** The paths whose lists come in pages. */
export type PagedPath<Routes> = {
  [Key in keyof Routes]: Routes[Key] extends { input: { query?: infer Query }; data: { items: unknown[] } }
    ? 'cursor' extends keyof NonNullable<Query>
      ? PathIn<Key, 'GET'>
      : never
    : never;
}[keyof Routes];

export type ItemOf<Routes, Key> = DataOf<Routes, Key> extends { items: (infer Item)[] } ? Item : never;

/** One method for each of HTTP, and lists without their pages. */
export interface Calls<Routes> {
  get<Path extends PathOf<Routes, 'GET'>>(
    path: Path,
    ...input: CallArguments<InputOf<Routes, `GET ${Path}`>>
  ): Promise<DataOf<Routes, `GET ${Path}`>>;
  /** Repeating one that was not answered does nothing twice, as long as `idempotencyKey` is the same. */
  post<Path extends PathOf<Routes, 'POST'>>(
    path: Path,
    ...input: CallArguments<InputOf<Routes, `POST ${Path}`>>
  ): Promise<DataOf<Routes, `POST ${Path}`>>;
  put<Path extends PathOf<Routes, 'PUT'>>(
    path: Path,
    ...input: CallArguments<InputOf<Routes, `PUT ${Path}`>>
  ): Promise<DataOf<Routes, `PUT ${Path}`>>;
  patch<Path extends PathOf<Routes, 'PATCH'>>(
    path: Path,
    ...input: CallArguments<InputOf<Routes, `PATCH ${Path}`>>
  ): Promise<DataOf<Routes, `PATCH ${Path}`>>;
  delete<Path extends PathOf<Routes, 'DELETE'>>(
    path: Path,
    ...input: CallArguments<InputOf<Routes, `DELETE ${Path}`>>
  ): Promise<DataOf<Routes, `DELETE ${Path}`>>;
  /** All items of a list, page by page: one request for each page, which is as large as it may be unless `limit` says otherwise. */
  items<Path extends PagedPath<Routes>>(
    path: Path,
    ...input: CallArguments<InputOf<Routes, `GET ${Path}`>>
  ): AsyncGenerator<ItemOf<Routes, `GET ${Path}`>, void, undefined>;
}
