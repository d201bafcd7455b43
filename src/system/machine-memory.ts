/** How much memory is available, and how much work may run concurrently in it. */
import { availableParallelism, totalmem } from 'node:os';

/**
 * Bytes that a thread needs for reading, packing or checking, including its share of what the process needs otherwise.
 */
const THREAD_BYTES = 300 * 1024 * 1024;
/** Bytes for the agent itself and the system, and for an engine process. */
const BESIDES_BYTES = 200 * 1024 * 1024;
const ENGINE_BYTES = 250 * 1024 * 1024;
const SMALL_BYTES = 1024 ** 3;

/** Bytes that this process may use: the machine's memory, or less where a container or service manager limits it. */
export function memoryBytes(): number {
  const all = totalmem();
  const left = process.constrainedMemory();
  return left > 0 && left < all ? left : all;
}

/** Whether the machine has so little memory that unused memory is released at once. */
export function isSmallMachine(memory: number = memoryBytes()): boolean {
  return memory < SMALL_BYTES;
}

/** The number of threads for parallel work, as limited by processors and memory. */
export function threadCount(most: number, memory: number = memoryBytes()): number {
  return Math.max(1, Math.min(availableParallelism(), most, Math.floor(memory / THREAD_BYTES)));
}

/** How many engine processes may run in the background at once. */
export function engineCount(memory: number = memoryBytes()): number {
  return Math.max(1, Math.floor((memory - BESIDES_BYTES) / ENGINE_BYTES));
}
