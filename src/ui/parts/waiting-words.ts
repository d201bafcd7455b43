/** Why a job waits: in the reader's language if the code is known, else in the agent's words. */
import type { JobFields } from '../../api/schemas/job.ts';
import { t } from '../language/language.ts';

export function waitingWords({ waits, waiting_for: said }: Pick<JobFields, 'waits' | 'waiting_for'>): string {
  return (waits === null ? undefined : wordsOf(waits)) ?? said ?? '';
}

function wordsOf({ code, params }: NonNullable<JobFields['waits']>): string | undefined {
  const { plainWaits, waits } = t.parts.job;
  if (Object.hasOwn(plainWaits, code)) return plainWaits[code as keyof typeof plainWaits];
  const whom = whomOf(params['whom']);
  if (code === 'quiet_hours' && typeof params['until'] === 'string') return waits.quiet(params['until']);
  const { again_in_seconds: again, silent_seconds: silent, because } = params;
  if (code === 'asked_again' && params['whom'] === 'other_session' && typeof again === 'number')
    return waits.session(inWords(again));
  if (code === 'asked_again' && whom !== undefined && typeof again === 'number')
    return waits.again(whom, typeof because === 'string' ? because : '', inWords(again));
  if (code === 'no_answer' && whom !== undefined && typeof silent === 'number')
    return waits.silent(whom, inWords(silent));
  return undefined;
}

function whomOf(code: unknown): string | undefined {
  const { whom } = t.parts.job;
  return typeof code === 'string' && Object.hasOwn(whom, code) ? whom[code as keyof typeof whom] : undefined;
}

function inWords(seconds: number): string {
  return seconds < 120 ? `${seconds} s` : `${Math.round(seconds / 60)} min`;
}
