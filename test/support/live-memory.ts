/** Memory that is in use: what nothing refers to any more is collected first, so that it does not count. */
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

/** Bytes of the heap; buffers outside it are given back later than what refers to them. */
export function liveMemory(): number {
  setFlagsFromString('--expose-gc');
  (runInNewContext('gc') as () => void)();
  return process.memoryUsage().heapUsed;
}
