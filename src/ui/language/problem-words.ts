import { t } from './language.ts';

/** Words for an error whose code is known. A storage that is only away is not reported as failed. */
export function problemWords({
  code,
  details,
}: {
  readonly code: string;
  readonly details?: object | undefined;
}): string | undefined {
  const reason = details !== undefined && 'reason' in details ? details.reason : undefined;
  return reason === 'away' ? t.problems['DESTINATION_UNREACHABLE'] : t.problems[code];
}
