/** The pause that a person ordered. It outlives restarts and ends automatically at its time. */
import type { SettingStore } from '../db/settings.ts';

const KEY = 'pause';

export interface Pause {
  /** Milliseconds since 1970; null: until a person ends it. */
  readonly until: number | null;
}

export function readPause(settings: SettingStore): Pause | undefined {
  const text = settings.get(KEY);
  return text === undefined ? undefined : (JSON.parse(text) as Pause);
}

/** Stores the pause; undefined ends it. */
export function writePause(settings: SettingStore, pause: Pause | undefined): void {
  settings.set(KEY, pause === undefined ? undefined : JSON.stringify(pause));
}

export function isOver({ until }: Pause, nowMs: number): boolean {
  return until !== null && nowMs >= until;
}
