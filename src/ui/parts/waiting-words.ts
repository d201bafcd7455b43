/** Why a job waits, in the reader's language where the sentence is known, else as the agent says it. */
import { t } from '../language/language.ts';

export function waitingWords(reason: string): string {
  const { waits } = t.parts.job;
  for (const [pattern, name] of WAITS) {
    const match = pattern.exec(reason);
    if (match !== null) return waits[name](match[1] ?? '', match[2] ?? '', match[3] ?? '');
  }
  return reason;
}

const WAITS: readonly (readonly [RegExp, keyof typeof t.parts.job.waits])[] = [
  [/^The destination is not there/, 'absent'],
  [/^Quiet hours until (\d\d:\d\d)/, 'quiet'],
  [/^The computer runs on battery/, 'battery'],
  [/^The network is metered/, 'metered'],
  [/^It waits for the same backup to another destination/, 'reader'],
  [/^It waits for the same job from before/, 'earlier'],
  [/^It waits for its turn/, 'turn'],
  [/^The destination cannot be reached/, 'unreachable'],
  [/^The repository is locked/, 'locked'],
  [/^Waiting for (the store|the file system|rclone) \((.+)\), again in (\d+ (?:s|min))\./, 'again'],
  [/^Waiting for (the store|the file system|rclone): no answer for (\d+ (?:s|min))/, 'silent'],
  [/^Holdfast cannot write in its state directory/, 'unwritable'],
  [/^The trial at the partner is over/, 'trialOver'],
  [/^The account at the partner is suspended/, 'suspended'],
];
