import { join, normalize, resolve } from 'node:path';

/** What the settings depend on beside the file. */
export interface SettingsContext {
  /** What `~` stands for. */
  readonly home: string;
  readonly stateDirectory: string;
  /** Whether backups lie in the embedded repository, so that it stays known whatever the file says. */
  readonly holdsBackups?: ((stateDirectory: string) => boolean) | undefined;
  /** Refuses a location at which no destination can be opened, by a HoldfastError. */
  readonly checkLocation?: ((location: string) => void) | undefined;
  /** Refuses a schedule that is never due, by a HoldfastError; the shape of the text is checked before. */
  readonly checkSchedule?: ((schedule: string) => void) | undefined;
  /** Refuses a pattern that can never match in a source, by a HoldfastError: no backup goes by one. */
  readonly checkPattern?: ((pattern: string, source: string) => void) | undefined;
}

/** Absolute, `~` resolved, without `..` and without slash at the end. */
export function absolutePath(path: string, { home }: Pick<SettingsContext, 'home'>): string {
  return resolve(isHome(path) ? join(home, path.slice(1)) : normalize(path));
}

export function isHome(path: string): boolean {
  return /^~(?:\/|$)/.test(path);
}
