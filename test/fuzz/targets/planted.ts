/** Parsers with a fault, to show that the search finds it and that the watch sees it. Nothing else runs them. */
import type { FuzzTarget, TargetTable, Verdict } from '../target.ts';

/** Four bytes that nobody comes upon by chance: only what was reached on the way says that each of them is right. */
function isSought(input: Buffer): boolean {
  return input[0] === 0x48 && input[1] === 0xf1 && input[2] === 0x07 && input[3] === 0x9c;
}

function planted(fault: () => void, limits: Pick<FuzzTarget, 'mostMemory'> = {}): () => FuzzTarget {
  return () => ({
    files: [],
    seeds: [Buffer.from('nothing of it, and more bytes behind')],
    maxBytes: 4_096,
    ...limits,
    run: (input): Verdict => {
      if (!isSought(input)) return 'refused';
      fault();
      return 'taken';
    },
  });
}

export const PLANTED: TargetTable<'planted'> = {
  'planted-crash': planted(() => {
    throw new TypeError('planted');
  }),
  'planted-hang': planted(() => {
    let turn = 0;
    while (turn >= 0) turn = (turn + 1) % 1_000;
  }),
  // Soon taken: on a slow machine, 256 MiB need a good part of the second after which it is a hang.
  'planted-memory': planted(
    () => {
      const parts: Buffer[] = [];
      for (let part = 0; part < 5; part += 1) parts.push(Buffer.alloc(16 * 1024 * 1024, 1));
      if (parts.length === 0) throw new Error('nothing was taken');
    },
    { mostMemory: 48 * 1024 * 1024 },
  ),
  'planted-death': planted(() => process.abort()),
};
