/** How much memory there is to work with, and how much of the work may go on at once. */
import { availableParallelism, totalmem } from 'node:os';

/** Bytes that a thread needs which reads, packs or checks, its share of what the process needs besides included. */
const THREAD_BYTES = 300 * 1024 * 1024;
/** Bytes that the agent itself and the system take, and that an engine process takes. */
const BESIDES_BYTES = 200 * 1024 * 1024;
const ENGINE_BYTES = 250 * 1024 * 1024;
const SMALL_BYTES = 1024 ** 3;

/** Bytes that this process may take: what the machine has, or what a container or service manager leaves it. */
export function memoryBytes(): number {
  const all = totalmem();
  const left = process.constrainedMemory();
  return left > 0 && left < all ? left : all;
}

/** What nobody needs just now is given up at once there. */
export function isSmallMachine(memory: number = memoryBytes()): boolean {
  return memory < SMALL_BYTES;
}

/** Threads that do the same work side by side: as the processors allow, and the memory. */
export function threadCount(most: number, memory: number = memoryBytes()): number {
  return Math.max(1, Math.min(availableParallelism(), most, Math.floor(memory / THREAD_BYTES)));
}

/** Engine processes at work at once that nobody waits for. */
export function engineCount(memory: number = memoryBytes()): number {
  return Math.max(1, Math.floor((memory - BESIDES_BYTES) / ENGINE_BYTES));
}
