/** `holdfast webdav`: the snapshots as a folder, turned on and off. */
import { localTime } from '../../base/units.ts';
import type { Command } from 'commander';
import { holdfast } from '../../base/holdfast-command.ts';
import { agentObject, askAgent } from './ask-agent.ts';
import type { Context } from '../command/context.ts';
import { addExamples, addOutputOptions, type OutputOptions } from '../command/options.ts';

export function define(command: Command, context: Context): void {
  command.usage('COMMAND [options]').helpCommand(false);
  const sub = (name: string, purpose: string): Command =>
    command
      .command(name)
      .summary(purpose)
      .description(`${purpose}.`)
      .helpOption('-h, --help', 'Show this help');

  const on = sub('on', 'Turn it on and show its address, this once; an earlier address stops working');
  addOutputOptions(on, { json: 'Address, user and password as a JSON object' });
  on.action(async (options: OutputOptions) => await turnOn(options, context));

  const off = sub('off', 'Turn it off: the address stops working');
  addOutputOptions(off, { json: 'The result as a JSON object' });
  off.action(async (options: OutputOptions) => {
    const { enabled } = await askAgent(context, 'turn_off_webdav', {});
    if (options.json === true) await context.out.json({ type: 'webdav', enabled });
    else await context.out.line('Turned off: the snapshots can no longer be opened as a folder.');
  });

  const address = sub('address', 'Show whether it is on, and the address without its secret');
  addOutputOptions(address, { json: 'The same as a JSON object' });
  address.action(async (options: OutputOptions) => await show(options, context));

  addExamples(command, [
    [holdfast`webdav on`, 'browse old versions in the file manager'],
    [holdfast`webdav off`, 'when you are done'],
  ]);
}

async function turnOn(options: OutputOptions, context: Context): Promise<void> {
  const { out } = context;
  const { address, user, password } = await askAgent(context, 'turn_on_webdav', {});
  if (options.json === true) {
    await out.json({ type: 'webdav', enabled: true, address, user, password });
    return;
  }
  await out.write(
    `Address   ${address}\nUser      ${user}\nPassword  ${password}\n\n` +
      'Open the address in a file manager ("Connect to server", "Map network drive"). Programs that ask for a user name and\n' +
      'password need it without its last part. Anyone who has it can read every backup here. It is not shown again.\n',
  );
}

async function show(options: OutputOptions, context: Context): Promise<void> {
  const { out } = context;
  const { enabled, created_at: since, address } = await askAgent(context, 'webdav', {});
  if (options.json === true)
    await out.json(agentObject({ type: 'webdav', enabled, created_at: since, address }));
  else if (since === null)
    await out.line(
      `Off: the snapshots cannot be opened as a folder. Turn it on with: ${holdfast`webdav on`}`,
    );
  else {
    await out.write(
      `Address  ${address}\nOn since ${localTime(since)}\n\nThe full address was shown when it was turned on. To get a new one: ${holdfast`webdav on`}\n`,
    );
  }
}
