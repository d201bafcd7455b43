import type { Command } from 'commander';
import { holdfast } from '../../base/holdfast-command.ts';
import { askAgent } from './ask-agent.ts';
import { openBrowser } from './browser.ts';
import type { Environment } from '../terminal/terminal.ts';
import type { Context } from '../command/context.ts';
import { addExamples, addOutputOptions, type OutputOptions } from '../command/options.ts';

interface UiOptions extends OutputOptions {
  readonly print?: boolean;
}

export function define(command: Command, context: Context): void {
  command
    .optionsGroup('How:')
    .option('--print', 'Only print the address, to open in a browser of your choice');
  addOutputOptions(command, { json: 'The address as a JSON object; no browser is opened' });
  addExamples(command, [
    [holdfast`ui`, 'look at your backups in the browser'],
    [holdfast`ui --print`, 'the same over SSH, with: ssh -L 7390:127.0.0.1:7390 HOST'],
  ]);
  command.action(async (options: UiOptions) => await open(options, context));
}

async function open(options: UiOptions, context: Context): Promise<void> {
  const { out, env } = context;
  if (options.json === true) {
    const { address, seconds } = await askAgent(context, 'open_page', { user: askingUser(env) });
    await out.json({ type: 'page', address, expires_in: seconds });
    return;
  }
  if (options.print !== true) {
    // The address is visible in the list of processes for a moment, so it must work only for this user's browser.
    const { address } = await askAgent(context, 'open_page', { user: ownUser() });
    if (await openBrowser(address, env, context.signal)) {
      await out.line(`The page is opening in your browser. If it does not: ${holdfast`ui --print`}`);
      return;
    }
  }
  const { address, seconds } = await askAgent(context, 'open_page', { user: askingUser(env) });
  await out.write(
    `${address}\n\nOpen this address within ${seconds} seconds. It works once; whoever opens it controls the agent.\n`,
  );
}

/** The user whose browser may open the page; null where the agent cannot tell whose browser it is. */
function ownUser(): number | null {
  return process.platform === 'linux' ? (process.geteuid?.() ?? null) : null;
}

/** Whose browser is to open an address that is only printed: pkexec names who asked; otherwise anybody's may. */
function askingUser(env: Environment): number | null {
  const asking = env['PKEXEC_UID'] ?? '';
  return process.platform === 'linux' && /^\d+$/.test(asking) ? Number(asking) : null;
}
