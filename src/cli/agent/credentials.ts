import { localTime } from '../../base/units.ts';
import type { Command } from 'commander';
import { holdfast } from '../../base/holdfast-command.ts';
import type { NewCredential } from '../../control/calls.ts';
import { agentObject, askAgent } from './ask-agent.ts';
import type { Context } from '../command/context.ts';
import { addExamples, addOutputOptions, type OutputOptions } from '../command/options.ts';
import { renderTable } from '../terminal/table.ts';
import { createStyles, printable, terminalWidth, wantsColor } from '../terminal/terminal.ts';

export function define(command: Command, context: Context): void {
  command.usage('COMMAND [options]').helpCommand(false);
  const sub = (name: string, purpose: string): Command =>
    command
      .command(name)
      .summary(purpose)
      .description(`${purpose}.`)
      .helpOption('-h, --help', 'Show this help');

  const create = sub('create', 'Create an API key; its secret is shown only once').requiredOption(
    '--name <name>',
    'What the key is for',
  );
  addOutputOptions(create, { json: 'Key and secret as a JSON object' });
  create.action(async (options: OutputOptions & { readonly name: string }) => {
    await showNew(await askAgent(context, 'create_credential', { name: options.name }), options, context);
  });

  const list = sub('list', 'List the API keys');
  addOutputOptions(list, { json: 'One JSON object for each key' });
  list.action(async (options: OutputOptions) => await show(options, context));

  const rotate = sub(
    'rotate',
    'Give a key a new secret; the old secret and its tokens stop working at once',
  ).argument('<api_key>', 'the key, as listed by "credentials list"');
  addOutputOptions(rotate, { json: 'Key and secret as a JSON object' });
  rotate.action(async (apiKey: string, options: OutputOptions) => {
    await showNew(await askAgent(context, 'rotate_credential', { api_key: apiKey }), options, context);
  });

  const revoke = sub('revoke', 'Revoke a key and its tokens at once').argument(
    '<api_key>',
    'the key, as listed by "credentials list"',
  );
  addOutputOptions(revoke, { json: 'The result as a JSON object' });
  revoke.action(async (apiKey: string, options: OutputOptions) => {
    await askAgent(context, 'revoke_credential', { api_key: apiKey });
    if (options.json === true) await context.out.json({ type: 'credential_revoked', api_key: apiKey });
    else await context.out.line(`${printable(apiKey)} is no longer accepted.`);
  });
  addExamples(command, [
    [holdfast`credentials create --name dashboard`, 'let a program use the Desktop API'],
  ]);
}

async function showNew(credential: NewCredential, options: OutputOptions, { out }: Context): Promise<void> {
  const { api_key: key, secret, name } = credential;
  if (options.json === true) {
    await out.json({ type: 'credential', api_key: key, secret, name });
    return;
  }
  await out.write(
    `API key  ${key}\nSecret   ${secret}\n\nThis secret is not shown again. Store it where only the program that uses it can read it.\n`,
  );
}

async function show(options: OutputOptions, context: Context): Promise<void> {
  const { out, env } = context;
  const credentials = await askAgent(context, 'credentials', {});
  if (options.json === true)
    for (const one of credentials) await out.json(agentObject({ type: 'credential', ...one }));
  else if (credentials.length === 0) await out.line('There are no API keys.');
  else {
    const rows = credentials.map((one) => [
      one.api_key,
      one.name,
      localTime(one.created_at),
      one.last_used_at === null ? 'never' : localTime(one.last_used_at),
    ]);
    const columns = [
      { title: 'API key', cut: 'never' as const },
      { title: 'Name' },
      { title: 'Made' },
      { title: 'Last used' },
    ];
    const { bold } = createStyles(wantsColor(out.stream, env));
    await out.write(renderTable(columns, rows, { width: terminalWidth(out.stream), titleStyle: bold }));
  }
}
