/** Sets of nodes with one bit for each node: 125 KB for a million. */

export interface Marks {
  readonly bits: Uint32Array;
}

/** @param highest the highest node that can be marked */
export function noMarks(highest: number): Marks {
  return { bits: new Uint32Array((highest >>> 5) + 1) };
}

/** Whether a node is marked. Any number is allowed. */
export function isMarked({ bits }: Marks, node: number): boolean {
  return (((bits[node >>> 5] ?? 0) >>> (node & 31)) & 1) === 1;
}

export function mark({ bits }: Marks, node: number): void {
  const at = node >>> 5;
  bits[at] = (bits[at] ?? 0) | (1 << (node & 31));
}

export function inBoth(a: Marks, b: Marks): Marks {
  const size = Math.min(a.bits.length, b.bits.length);
  return { bits: a.bits.slice(0, size).map((word, i) => word & (b.bits[i] ?? 0)) };
}

export function inEither(a: Marks, b: Marks): Marks {
  const [long, short] = a.bits.length < b.bits.length ? [b, a] : [a, b];
  return { bits: long.bits.map((word, i) => word | (short.bits[i] ?? 0)) };
}

/** The marked nodes after one, in order. */
export function* markedAfter({ bits }: Marks, last: number): Generator<number, undefined, undefined> {
  const begin = last + 1;
  for (let at = begin >>> 5; at < bits.length; at += 1) {
    const all = bits[at] ?? 0;
    for (let word = at === begin >>> 5 ? all & (-1 << (begin & 31)) : all; word !== 0; word &= word - 1) {
      yield at * 32 + 31 - Math.clz32(word & -word);
    }
  }
  return undefined;
}

/** The marked nodes in order; undefined when there are more than `limit`. */
export function listMarked({ bits }: Marks, limit: number): readonly number[] | undefined {
  const nodes: number[] = [];
  for (let at = 0; at < bits.length; at += 1) {
    for (let word = bits[at] ?? 0; word !== 0; word &= word - 1) {
      if (nodes.length === limit) return undefined;
      nodes.push(at * 32 + 31 - Math.clz32(word & -word));
    }
  }
  return nodes;
}
