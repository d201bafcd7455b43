/** One run of the program: runs a command, reports how it ended, and sets the exit code. */
import { HoldfastError, isAbort, RequestError } from '../base/errors.ts';
import { systemClock } from '../base/clock.ts';
import { callProgram } from '../base/holdfast-command.ts';
import { typedDirectory } from '../base/program-call.ts';
import { nameProcess } from '../system/process-identity.ts';
import { leaveDeletedDirectory, workingDirectoryGone } from '../base/typed-path.ts';
import { nameTimeZone } from '../base/time-zone.ts';
import { type Context, mayActForService, programAtTerminal } from './command/context.ts';
import { describeError, EXIT, exitCodeOf, hintOf } from './command/exit-codes.ts';
import { EXIT_OUTPUT_CLOSED, type Interrupts, watchInterrupts } from './command/interrupt.ts';
import { Output } from './terminal/output.ts';
import { settleOutput, standardOutput } from './terminal/standard-streams.ts';
import { createStyles, jsonLine, printable, wantsColor } from './terminal/terminal.ts';
import { startTellingWaits } from './terminal/told-waits.ts';

const OF_PATHS = ['HOLDFAST_STATE_DIR', 'HOLDFAST_CONFIG', 'HOLDFAST_REPOSITORY', 'HOLDFAST_PASSWORD_FILE'];

/** Runs the command that `words` ask for and sets the exit code of the process. */
export async function run(words: readonly string[]): Promise<void> {
  if (words.length === 1 && (words[0] === '--version' || words[0] === '-V')) {
    const { toolName } = await import('../base/program-version.ts');
    process.stdout.write(`${toolName()}\n`);
    return;
  }
  const unknownZone = nameTimeZone(process.env);
  if (unknownZone !== undefined) process.stderr.write(`Warning: ${printable(unknownZone)}\n`);
  nameProcess('holdfast');
  const output = standardOutput(process.env);
  const interrupts = watchInterrupts(() => systemClock.monotonic(), output);
  const over = new AbortController();
  const context: Context = {
    stdin: process.stdin,
    out: new Output(output, interrupts.signal, () => interrupts.outputIsDispensable()),
    stderr: process.stderr,
    env: process.env,
    clock: systemClock,
    signal: AbortSignal.any([interrupts.signal, over.signal]),
    exitCode: EXIT.ok,
    outcome: '',
  };
  const waits = startTellingWaits(process.stderr, process.env, words, () => systemClock.monotonic());
  try {
    requireReadable(process.env);
    if (mayActForService(process.env)) {
      const { actForService } = await import('./install/machine-agent.ts');
      await actForService(words, process.env);
    }
    const typedIn = typedDirectory(process.env);
    if (typedIn !== undefined) process.chdir(typedIn);
    leaveDeletedDirectory();
    callProgram(programAtTerminal(context));
    const { runProgram } = await import('./program.ts');
    await runProgram(words, context);
    await context.out.finish();
    settleOutput();
  } catch (error) {
    waits.end();
    await report(workingDirectoryGone(error) ?? error, words, context, interrupts);
  } finally {
    waits.end();
    // Ends reads ahead that nobody waits for any more: each could go on for minutes where a store does not answer.
    over.abort();
  }
  process.exitCode = interrupts.outputClosed ? EXIT_OUTPUT_CLOSED : context.exitCode;
}

/** Milliseconds for what is under way to end by itself. */
const END_MS = 300;

/** For after `run`: whoever called it waits for the end of the process, and not for a request that holds it open. */
export function endSoon(): void {
  const timer = setInterval(() => {
    const unwritten = [process.stdout, process.stderr].some(({ writableLength }) => writableLength > 0);
    if (!unwritten) process.exit();
  }, END_MS);
  timer.unref();
}

/**
 * Refuses paths that are not UTF-8: once decoded they name another place, and a new state directory would be made
 * there.
 * @throws {RequestError}
 */
function requireReadable(env: NodeJS.ProcessEnv): void {
  const name = OF_PATHS.find((one) => env[one]?.includes('\uFFFD') === true);
  if (name === undefined) return;
  throw new RequestError('USAGE', `The path in ${name} is not valid UTF-8`, {
    hint: 'Use a directory, or a symbolic link to it, whose path is UTF-8.',
  });
}

async function report(
  error: unknown,
  words: readonly string[],
  context: Context,
  interrupts: Interrupts,
): Promise<void> {
  context.exitCode = isAbort(error) ? interrupts.exitCode : exitCodeOf(error);
  if (interrupts.outputClosed) return;
  const canTell = context.out.stream.errored === null;
  if (canTell) await context.out.flush();
  if (canTell && wantsJson(words)) {
    context.out.stream.write(jsonLine(errorObject(error, context)));
    return;
  }
  const { red } = createStyles(wantsColor(context.stderr, context.env));
  if (isAbort(error)) context.stderr.write(`${interruptText(context)}\n`);
  else context.stderr.write(`${red('Error:')} ${failureText(error, context)}\n`);
}

/** Looks at the raw words: it is also needed before the options are parsed, and when parsing fails. */
function wantsJson(words: readonly string[]): boolean {
  const end = words.indexOf('--');
  return words.slice(0, end === -1 ? undefined : end).includes('--json');
}

function errorObject(error: unknown, context: Context): object {
  if (isAbort(error))
    return { type: 'error', code: 'INTERRUPTED', message: 'Interrupted', hint: context.outcome };
  const [message = ''] = describeError(error, {}).split('\n');
  if (!(error instanceof HoldfastError)) return { type: 'error', code: 'INTERNAL_ERROR', message, hint: '' };
  return { type: 'error', code: error.code, message, hint: hintOf(error) };
}

function failureText(error: unknown, { env, outcome }: Context): string {
  const text = describeError(error, env);
  return error instanceof HoldfastError && error.side === 'destination' && outcome !== ''
    ? `${text}\n${outcome}`
    : text;
}

function interruptText(context: Context): string {
  return ['Interrupted.', context.outcome].filter((text) => text !== '').join('\n');
}
