/** The result of one check of `holdfast doctor`. */
import { placedCauseText } from '../../base/errno-words.ts';
import { HoldfastError, errnoOf, isAbort } from '../../base/errors.ts';

export interface Finding {
  readonly check: string;
  /** `warning`: works, but not as it should. `error`: does not work. */
  readonly status: 'ok' | 'warning' | 'error';
  readonly message: string;
  /** What to do; empty when there is nothing to do. */
  readonly hint: string;
}

export function ok(check: string, message: string): Finding {
  return { check, status: 'ok', message, hint: '' };
}

export function warning(check: string, message: string, hint: string): Finding {
  return { check, status: 'warning', message, hint };
}

export function problem(check: string, message: string, hint: string): Finding {
  return { check, status: 'error', message, hint };
}

/** Runs a check. An error becomes a finding; only an abort is thrown. */
export async function guarded<F extends Finding | undefined>(
  check: string,
  look: () => Promise<F>,
): Promise<F | Finding> {
  try {
    return await look();
  } catch (error) {
    if (isAbort(error)) throw error;
    if (error instanceof HoldfastError) return problem(check, error.message, error.hint);
    const said = placedCauseText(error);
    return problem(check, errnoOf(error) === undefined ? `Unexpected error: ${said}` : said, '');
  }
}
