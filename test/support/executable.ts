import { join } from 'node:path';

/** The program as people start it. It must be built. */
export const executable = join(import.meta.dirname, '..', '..', 'service', 'bin', 'holdfast.js');
