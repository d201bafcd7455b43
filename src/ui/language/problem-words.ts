import { t } from './language.ts';

/** What went wrong, where it is known by its code; a storage that is only away has not failed. */
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
