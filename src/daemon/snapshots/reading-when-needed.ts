/** Reading from repositories. The code is loaded on first use, as most agents never need it. */
import type { Reading, ReadingParts } from './reading.ts';

export type RepositoryReading = Pick<Reading, 'archive' | 'content' | 'forget' | 'snapshots'>;

export function readingWhenNeeded(parts: ReadingParts): RepositoryReading & AsyncDisposable {
  let loading: Promise<Reading> | undefined;
  const load = async (): Promise<Reading> => {
    loading ??= import('./reading.ts').then(({ Reading: Loaded }) => new Loaded(parts));
    return await loading;
  };
  return {
    archive: async (...of) => await (await load()).archive(...of),
    content: async (...of) => await (await load()).content(...of),
    forget: async (...of) => await (await load()).forget(...of),
    snapshots: async (...of) => await (await load()).snapshots(...of),
    async [Symbol.asyncDispose]() {
      await (await loading)?.[Symbol.asyncDispose]();
    },
  };
}
