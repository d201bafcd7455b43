import { join, normalize, resolve } from 'node:path';
import type { Settings } from './settings.ts';

/** What the settings depend on in addition to the file. */
export interface SettingsContext {
  /** The directory that `~` stands for. */
  readonly home: string;
  readonly stateDirectory: string;
  /** Whether the embedded repository contains backups, so that it stays listed whatever the file says. */
  readonly holdsBackups?: ((stateDirectory: string) => boolean) | undefined;
  /** Throws a HoldfastError for a location at which no destination can be opened. */
  readonly checkLocation?: ((location: string) => void) | undefined;
  /** Throws a HoldfastError for a schedule that is never due. The form of the text has been checked before. */
  readonly checkSchedule?: ((schedule: string) => void) | undefined;
  /**
   * Throws a HoldfastError for a pattern that can never match in a source, so that it cannot be relied on by mistake.
   */
  readonly checkPattern?: ((pattern: string, source: string) => void) | undefined;
  /**
   * Throws a HoldfastError for a source that no backup can store. Only asked about sources that a change adds: what is
   * at a path may change later, and must not make a file invalid.
   */
  readonly checkNewSource?: ((path: string, settings: Settings, stateDirectory: string) => void) | undefined;
}

/** The path made absolute, with `~` resolved, without `..` and without a trailing slash. */
export function absolutePath(path: string, { home }: Pick<SettingsContext, 'home'>): string {
  return resolve(isHome(path) ? join(home, path.slice(1)) : normalize(path));
}

export function isHome(path: string, platform: NodeJS.Platform = process.platform): boolean {
  return platform === 'win32' ? /^~(?:[\\/]|$)/.test(path) : /^~(?:\/|$)/.test(path);
}

/** Whether a path begins at a root: of the system, of a drive, or on Windows of a share (`\\\\server\\share`). */
export function isFromRoot(path: string, platform: NodeJS.Platform = process.platform): boolean {
  return path.startsWith('/') || (platform === 'win32' && /^(?:[a-z]:[\\/]|\\\\[^\\])/i.test(path));
}
