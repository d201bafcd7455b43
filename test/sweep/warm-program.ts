/** Runs the short commands of a sweep, most of them in a process that has the program loaded already. */
import { isTurnOfOwnProcess, runWarm } from '../support/warm-program.ts';
import { describeFailure, environment, run, type Outcome, type Place } from './program.ts';

/** Runs a command to its end, whatever that is, as {@link run} does: every eleventh one by that. */
export async function runAgain(
  place: Place,
  words: readonly string[],
  more: NodeJS.ProcessEnv = {},
): Promise<Outcome> {
  if (isTurnOfOwnProcess()) return await run(place, words, more);
  const began = performance.now();
  const env = environment(place, more);
  const { code, stdout, stderr } = await runWarm({ words, env, cwd: process.cwd(), input: '' });
  const durationMs = performance.now() - began;
  return { code, stdout: stdout.toString(), stderr: stderr.toString(), killed: false, durationMs };
}

/** Runs a command that must succeed. */
export async function succeedAgain(place: Place, words: readonly string[]): Promise<Outcome> {
  const outcome = await runAgain(place, words);
  if (outcome.code !== 0) throw new Error(describeFailure(words, outcome));
  return outcome;
}
