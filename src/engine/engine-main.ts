/** Entry file of the engine process, which the daemon forks. It ends when it is told to, or when the daemon is gone. */
import { systemClock } from '../base/clock.ts';
import { keepHeapSmall } from '../base/small-heap.ts';
import { zstdFacts } from '../codec/zstd-choice.ts';
import { nameProcess } from '../system/process-identity.ts';
import { Engine } from './engine.ts';
import { internalError } from './job-error.ts';
import type { FromEngine, ToEngine } from './protocol.ts';

/** Longer than a job needs to stop at a safe point and release its lease. */
const END_WITHIN_MS = 20_000;

nameProcess('holdfast-engine');
keepHeapSmall();

const engine = new Engine({ clock: systemClock, env: process.env, send });

process.on('message', (message: ToEngine) => {
  if (message.kind === 'end') void end(0);
  else {
    if (message.kind === 'run') tellOnce();
    engine.receive(message);
  }
});
// The daemon is gone, so nobody is left to send `end`.
process.on('disconnect', () => void end(0));
// Ctrl+C in a terminal and the end of a session signal every process. The daemon decides what they mean, so they are
// ignored here.
for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(name, () => {});
process.on('uncaughtException', crash);
process.on('unhandledRejection', crash);

if (process.connected) send({ kind: 'ready', pid: process.pid });
// The daemon ended while this process was being loaded.
else void end(0);

function send(message: FromEngine): void {
  // Without a channel nobody receives the message; 'disconnect' ends this process.
  if (process.connected) process.send?.(message, undefined, {}, () => {});
}

let hasTold = false;

/** Notes in the log of the process's first job which library compresses. */
function tellOnce(): void {
  if (hasTold) return;
  hasTold = true;
  const { by, version, because } = zstdFacts();
  const why = because === '' ? '' : ` (zstd-napi: ${because})`;
  send({ kind: 'note', text: `Compression: zstd ${version} by ${by}${why}.` });
}

async function end(code: number): Promise<void> {
  setTimeout(() => process.exit(code), END_WITHIN_MS).unref();
  await engine.end();
  process.exitCode = code;
  if (process.connected) process.disconnect();
}

/** An unexpected error is a bug: the job fails and the process exits, as its state can no longer be trusted. */
function crash(error: unknown): void {
  const failed: FromEngine = { kind: 'failed', error: internalError(error) };
  if (!process.connected || process.send === undefined) process.exit(1);
  process.send(failed, undefined, {}, () => process.exit(1));
}
