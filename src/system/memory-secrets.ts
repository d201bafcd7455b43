/** Keeps secrets from anyone who inspects the process from outside. */
import { libc } from './libc.ts';

/** The limit on core files, on Linux and macOS. */
const RLIMIT_CORE = 4;

/** Prevents core files of this process and its children, as they would contain every secret in memory. */
export function forbidCoreFiles(): void {
  if (libc === null) return;
  const none = libc.memory(16);
  none.bytes.fill(0, 0, 16);
  // Lowering the limit always succeeds; it cannot be raised again.
  libc.bind('setrlimit', 'int', ['int', 'address'])(RLIMIT_CORE, none.address);
}

/**
 * Removes variables from the environment, and wipes them from the memory in which the system passed them, where they
 * could be read for as long as the process lives. Without access to the C library they are only removed.
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
