import { userInfo } from 'node:os';

/** Of whom this process is; the number where the system's list has no entry for it, as in containers. */
export function userName(): string {
  try {
    return userInfo().username;
  } catch {
    return String(process.geteuid?.() ?? '');
  }
}
