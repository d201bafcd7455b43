/** Whether the agent can have its port: `doctor` looks, and `status` where no agent runs. */
import { once } from 'node:events';
import { createServer } from 'node:net';
import { errnoOf } from '../../base/errors.ts';
import { holdfast } from '../../base/holdfast-command.ts';
import { type Finding, ok, problem } from '../../daemon/doctor/finding.ts';
import { isHoldfast, type RunningAgent } from './readiness.ts';

/** Checks that the port is the agent's, or free for it. */
export async function checkPort(port: number, agent: RunningAgent | undefined): Promise<Finding> {
  if (agent !== undefined) return ok('port', `The agent listens on ${agent.addresses.join(', ')}`);
  if (port === 0) return ok('port', 'Any free port');
  const server = createServer();
  try {
    server.listen(port, '127.0.0.1');
    await once(server, 'listening');
  } catch (error) {
    if (errnoOf(error) === 'EADDRINUSE') return await takenPort(port);
    if (errnoOf(error) === 'EACCES')
      return problem(
        'port',
        `Port ${port} is not allowed`,
        `Choose a port above 1023: ${holdfast`config set listen.port 7390`}`,
      );
    throw error;
  } finally {
    server.close();
  }
  return ok('port', `${port} is free`);
}

/** The finding when the port is taken, usually by the agent of another user: each agent needs its own. */
async function takenPort(port: number): Promise<Finding> {
  const another = holdfast`config set listen.port ${String(port + 1)}`;
  return (await isHoldfast(port))
    ? problem(
        'port',
        `Another agent on this machine uses port ${port}`,
        `Use another port for this one: ${another}`,
      )
    : problem(
        'port',
        `Another program uses port ${port}`,
        `Find out which: ss -ltnp 'sport = :${port}'. End it, or choose another port: ${another}`,
      );
}
