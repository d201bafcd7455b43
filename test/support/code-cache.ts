import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** What tests and the programs that they start keep between runs: the same for all, as compiled code is. */
export const TEST_CACHE = join(tmpdir(), `holdfast-test-cache-${process.getuid?.() ?? 0}`);

/**
 * For every process that runs sources: without it each of them strips the types of all it imports anew, which takes three
 * quarters of its start. The built program keeps its commands' code by itself, and does not keep the agent's.
 */
export const CODE_CACHE = join(TEST_CACHE, 'tests');
