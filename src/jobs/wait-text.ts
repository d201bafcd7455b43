/** What a job waits for, in words for the API, logs and the command line. The page has texts of its own. */
import { waitedText } from '../base/waits.ts';
import type { PlainWait, Wait } from './job.ts';

export function waitText(wait: Wait): string {
  if (wait.code === 'asked_again' || wait.code === 'no_answer') {
    const text = waitedText(wait);
    return `${text.charAt(0).toUpperCase()}${text.slice(1)}.`;
  }
  if (wait.code === 'quiet_hours') return `Quiet hours until ${wait.params.until}.`;
  if (wait.code === 'paused') return `Paused until ${pauseEnd(wait.params.until)}.`;
  return TEXTS[wait.code];
}

/** To the minute, as the headline has it. */
function pauseEnd(until: string | null): string {
  return until === null ? 'you resume it' : `${until.slice(0, 16)}Z`;
}

const TEXTS: Readonly<Record<PlainWait, string>> = {
  destination_absent: 'The destination is not available: connect or mount it.',
  on_battery: 'The computer runs on battery.',
  on_metered: 'The network is metered.',
  reader: 'Waiting for the same backup to another destination, to copy it.',
  earlier: 'Waiting for an earlier run of the same job, which will be tried again.',
  turn: 'Waiting for another job, which uses the same source or destination, or the available memory.',
  destination_unreachable: 'The destination cannot be reached; Holdfast will try again.',
  // A prune lease stays valid for up to five minutes after its process has ended or its machine has lost power.
  repository_locked:
    'The repository is locked by another program or an interrupted run; Holdfast will try again.',
  state_unwritable: 'Holdfast cannot write to its state directory; it will try again.',
  account_suspended: 'The account at the partner is suspended.',
  trial_over: 'The partner’s free trial is over.',
};
