/**
 * Times in columns, two numbers each (seconds, nanoseconds): 64 bits of nanoseconds only cover 1677 to 2262, and file
 * systems have times outside that range.
 */
const NS_PER_SECOND = 1_000_000_000n;

export function timeColumns(times: number): BigInt64Array<ArrayBuffer> {
  return new BigInt64Array(times * 2);
}

export function putTime(columns: BigInt64Array, i: number, ns: bigint): void {
  columns[i * 2] = ns / NS_PER_SECOND;
  columns[i * 2 + 1] = ns % NS_PER_SECOND;
}

export function timeAt(columns: BigInt64Array, i: number): bigint {
  return (columns[i * 2] ?? 0n) * NS_PER_SECOND + (columns[i * 2 + 1] ?? 0n);
}
