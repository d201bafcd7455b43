import { userInfo } from 'node:os';

/** The user of this process; their number where the system has no entry for it, as in containers. */
export function userName(): string {
  try {
    return userInfo().username;
  } catch {
    return String(process.geteuid?.() ?? '');
  }
}
