/** The program of an engine process whose jobs do what their id says. */
import type { FromEngine, ToEngine } from '../../../src/engine/protocol.ts';
import { OUTCOME } from './fake-engines.ts';

const say = (message: FromEngine): void => {
  process.send?.(message);
};
const complete = (): void =>
  say({ kind: 'completed', outcome: { ...OUTCOME, snapshotId: `${process.pid}` } });

let limit: number | null = null;
let deaf = false;

function run(id: string): void {
  deaf = id === 'deaf';
  switch (id) {
    case 'die':
      process.kill(process.pid, 'SIGKILL');
      return;
    case 'exit':
      process.exitCode = 3;
      process.disconnect();
      return;
    case 'fail':
      say({ kind: 'failed', error: { code: 'CORRUPT_DATA', message: 'Damaged.', details: {} } });
      return;
    case 'noise':
      // Two ways lead to the agent, and either may be faster: it ends once it is told that this one has arrived.
      process.stderr.write('something is odd\n');
      return;
    case 'last words':
      process.stderr.write(`${'x'.repeat(70_000)}\nout of memory`, () =>
        process.kill(process.pid, 'SIGKILL'),
      );
      return;
    case 'hang':
    case 'deaf':
      say({ kind: 'phase', phase: 'scanning' });
      return;
    default:
      complete();
  }
}

process.on('message', (message: ToEngine) => {
  if (message.kind === 'run') run(message.job.id);
  else if (message.kind === 'cancel' && !deaf) say({ kind: 'canceled' });
  else if (message.kind === 'limit') {
    limit = message.uploadLimit;
    say({ kind: 'note', text: `limit ${limit}` });
  } else if (message.kind === 'end') process.disconnect();
});
if (process.env['ENGINE_STARTS'] !== 'never') say({ kind: 'ready', pid: process.pid });
