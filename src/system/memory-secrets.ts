/** Keeping secrets from those who look at the process from outside. */
import { libc } from './libc.ts';

/** Of core files, on Linux and macOS. */
const RLIMIT_CORE = 4;

/** No core file of this process or its children is written: it would hold every secret in memory. */
export function forbidCoreFiles(): void {
  if (libc === null) return;
  const none = libc.memory(16);
  none.bytes.fill(0, 0, 16);
  // It can only be lowered, which always succeeds.
  libc.bind('setrlimit', 'int', ['int', 'address'])(RLIMIT_CORE, none.address);
}

/**
 * Takes variables out of the environment, also of the memory in which the system got it: there it can be read as long as
 * the process lives. Where the C library is not to be had, only the first.
 */
export function forgetVariables(environment: NodeJS.ProcessEnv, names: readonly string[]): void {
  for (const name of names) {
    const value = environment[name];
    if (value === undefined) continue;
    if (environment === process.env) wipe(name, Buffer.byteLength(value, 'utf8'));
    delete environment[name];
  }
}

function wipe(name: string, length: number): void {
  if (libc === null) return;
  const address = libc.bind('getenv', 'address', ['buffer'])(Buffer.from(`${name}\0`));
  if (address !== 0) libc.bind('memset', 'address', ['address', 'int', 'size_t'])(address, 0, length);
}
