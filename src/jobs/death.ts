/** Describes the unexpected end of an engine process, in words and for programs. */
import { formatDuration } from '../base/units.ts';
import type { EngineEnd } from './engine-launcher.ts';

/** How the process ended; or, where that is unknown, that the agent ended first or could not write the end. */
export type Death = EngineEnd | 'agent-ended' | 'end-not-written';

/** As a part of a sentence. */
export function deathText(how: Death): string {
  if (how === 'agent-ended') return 'the agent itself ended';
  if (how === 'end-not-written') return 'its end could not be written';
  const { code, signal, notReadyAfterMs } = how;
  if (notReadyAfterMs !== undefined)
    return `it was not ready to work after ${formatDuration(notReadyAfterMs)}, and was ended for that`;
  if (signal === 'SIGKILL') return 'it was killed, which the system does when memory runs out';
  return signal === null ? `it ended with code ${code ?? 'unknown'}` : `it was ended by ${signal}`;
}

/** What to do about it, as a sentence. */
export function deathHint(how: Death): string {
  if (typeof how === 'object' && how.notReadyAfterMs !== undefined)
    return 'Look at what keeps the machine that busy, then start the job again.';
  if (typeof how === 'object' && how.signal === 'SIGKILL')
    return 'Free some memory, or give the service more (MemoryMax= of its unit), then start the job again.';
  return 'Start it again; if that happens once more, report it.';
}

export function deathDetails(how: Death): Readonly<Record<string, unknown>> {
  if (typeof how === 'string') return { ended: how };
  const { code, signal, notReadyAfterMs } = how;
  return { code, signal, not_ready_after_ms: notReadyAfterMs ?? null };
}
