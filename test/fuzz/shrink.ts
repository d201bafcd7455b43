/** Makes a failing input as short and as plain as it can be. */

/** Whether an input still fails in the same way. */
export type StillFails = (input: Buffer) => Promise<boolean>;

/**
 * Takes out parts, the largest first, then makes bytes zero or a letter, as long as `stillFails` says so.
 * @param tries of `stillFails`, which may start a process each
 */
export async function shrink(input: Uint8Array, stillFails: StillFails, tries: number): Promise<Buffer> {
  let best: Buffer = Buffer.from(input);
  let left = tries;
  const accept = async (candidate: Buffer): Promise<boolean> => {
    if (left <= 0 || candidate.equals(best)) return false;
    left -= 1;
    if (!(await stillFails(candidate))) return false;
    best = candidate;
    return true;
  };
  for (let size = 1 << Math.floor(Math.log2(Math.max(1, best.length))); size >= 1; size >>= 1) {
    let at = 0;
    while (at < best.length) {
      const without = Buffer.concat([best.subarray(0, at), best.subarray(at + size)]);
      if (!(await accept(without))) at += size;
    }
  }
  for (const plain of [0, 0x61]) {
    for (let at = 0; at < best.length; at += 1) {
      const changed = Buffer.from(best);
      if (changed[at] === 0 || changed[at] === plain) continue;
      changed[at] = plain;
      await accept(changed);
    }
  }
  return best;
}
