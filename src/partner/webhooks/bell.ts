/** Wakes a loop that polls for work. */
export interface Bell {
  readonly ring: () => void;
  /** Resolves at the next ring. Only one caller may listen at a time. */
  listen(): Promise<undefined>;
}

export function createBell(): Bell {
  let next = Promise.withResolvers<undefined>();
  return {
    ring: () => next.resolve(undefined),
    listen: async () => {
      next = Promise.withResolvers<undefined>();
      return await next.promise;
    },
  };
}
