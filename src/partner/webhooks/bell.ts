/** Wakes whoever looks for work now and then. */
export interface Bell {
  readonly ring: () => void;
  /** Resolves when it rings from now on. One listens at a time. */
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
