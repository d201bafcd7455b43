/** Computes until when no jobs start. */

export const PAUSES = ['hour', 'morning', 'time', 'resumed'] as const;
export type PauseChoice = (typeof PAUSES)[number];

/** Hour of the day at which the pause until tomorrow ends. */
export const MORNING_HOUR = 8;

/**
 * The end of a pause in RFC 3339; null for a pause without an end; undefined when `time` (of an input, in local time)
 * is invalid or in the past.
 */
export function pauseEnd(choice: PauseChoice, time: string, now: Date): string | null | undefined {
  switch (choice) {
    case 'hour':
      return new Date(now.getTime() + 3_600_000).toISOString();
    case 'morning':
      return new Date(now.getFullYear(), now.getMonth(), now.getDate() + 1, MORNING_HOUR).toISOString();
    case 'time': {
      const end = new Date(time);
      return Number.isNaN(end.getTime()) || end <= now ? undefined : end.toISOString();
    }
    case 'resumed':
      return null;
  }
}
