/** `holdfast partner`: the hosted side, for providers who look after the backups of others. */
import { once } from 'node:events';
import { homedir } from 'node:os';
import { join, resolve } from 'node:path';
import type { Command } from 'commander';
import { holdfast } from '../base/holdfast-command.ts';
import { createLog } from '../base/log.ts';
import { programVersion } from '../base/program-version.ts';
import { createRedactor } from '../base/redact.ts';
import { openPartnerKeys, type PartnerKeys } from '../partner/secrets/keys.ts';
import { hashPassword } from '../partner/secrets/passwords.ts';
import { type PartnerSettings, readPartnerSettings, storeAddress } from '../partner/settings.ts';
import { startPartnerService } from '../partner/start.ts';
import type { Actor } from '../partner/store/audit-log.ts';
import type { Partner } from '../partner/store/partners.ts';
import { copyStore, openPartnerStore, type PartnerStores } from '../partner/store/store.ts';
import { forbidCoreFiles, forgetVariables } from '../system/memory-secrets.ts';
import type { Context } from './command/context.ts';
import { isHungUp } from './command/interrupt.ts';
import { addExamples, addOutputOptions, oneLine, type OutputOptions, usage } from './command/options.ts';
import { canPrompt, promptNewPassword } from './terminal/prompt.ts';
import { givenByOptions, readGiven } from './places/secret.ts';
import { ensureStateDirectory, statePaths } from './command/state-directory.ts';
import { printable } from './terminal/terminal.ts';

interface PlaceOptions extends OutputOptions {
  readonly config?: string;
}

interface StartOptions extends PlaceOptions {
  readonly port?: string;
  readonly host?: string;
}

interface ResetOptions extends PlaceOptions {
  readonly passwordFile?: string;
  readonly passwordCommand?: string;
}

interface InitOptions extends ResetOptions {
  readonly name: string;
  readonly email: string;
  readonly company?: string;
}

/** The actor for commands that are typed on the machine of the service. */
const OPERATOR: Actor = { name: 'operator', keyId: null, ip: null };

const STATUS_CHANGES = [
  [
    'suspend',
    'suspended',
    'Suspend a partner account',
    'Until it is resumed, its API keys and devices are refused. Devices keep backing up and report later.',
  ],
  [
    'resume',
    'active',
    'Resume a suspended partner account',
    'Its API keys and devices are accepted again, and devices report what they did in the meantime.',
  ],
] as const;

export function define(command: Command, context: Context): void {
  command.usage('[COMMAND] [options]').helpCommand(false).enablePositionalOptions();
  const config = [
    '--config <file>',
    'Use this configuration (default: partner.json in the directory of the service)',
  ] as const;
  const start = (made: Command): Command =>
    addOutputOptions(
      made
        .option('--host <address>', 'Listen on this address (127.0.0.1)')
        .option('--port <n>', 'Listen on this port (7391); 0 for any free port')
        .option(...config),
      { json: 'Output as JSON, one object on each line' },
    );
  start(command).action(async (options: StartOptions) => await run(options, context));

  const init = command
    .command('init')
    .summary('Create a partner account')
    .description('Create a partner account, which can then sign in to the settings page.')
    .helpOption('-h, --help', 'Show this help')
    .requiredOption('--name <name>', 'Name of the partner', oneLine)
    .requiredOption('--email <address>', 'E-mail address to sign in with')
    .option('--company <name>', 'Name of the company', oneLine)
    .option('--password-file <file>', 'A file with the password (otherwise you are asked for it)')
    .option('--password-command <command>', 'A command that prints the password')
    .option(...config);
  addOutputOptions(init, { json: 'The account as a JSON object' }).action(
    async (options: InitOptions) => await makeAccount(options, context),
  );

  const copy = command
    .command('copy <file>')
    .summary('Copy the SQLite store to a file for backup')
    .description('Copy the SQLite store to a file, which can be backed up, while the service is running.')
    .helpOption('-h, --help', 'Show this help')
    .option(...config);
  addOutputOptions(copy, { json: 'The result as a JSON object' }).action(
    async (file: string, options: PlaceOptions) => await makeCopy(file, options, context),
  );
  const reset = command
    .command('reset <email>')
    .summary('Set a new password, for someone who lost theirs or their second factor')
    .description(
      'Set a new password for an account, remove its second factor, and end its sessions: for someone who lost their password or their authenticator app. The API key and the devices stay as they are.',
    )
    .helpOption('-h, --help', 'Show this help')
    .option('--password-file <file>', 'A file with the new password (otherwise you are asked for it)')
    .option('--password-command <command>', 'A command that prints the new password')
    .option(...config);
  addOutputOptions(reset, { json: 'The result as a JSON object' }).action(
    async (email: string, options: ResetOptions) => await resetAccess(email, options, context),
  );
  for (const [name, status, what, then] of STATUS_CHANGES) {
    const change = command
      .command(`${name} <email>`)
      .summary(what)
      .description(`${what}. ${then}`)
      .helpOption('-h, --help', 'Show this help')
      .option(...config);
    addOutputOptions(change, { json: 'The result as a JSON object' }).action(
      async (email: string, options: PlaceOptions) => await setStatus(email, status, options, context),
    );
  }
  addExamples(command, [
    [holdfast`partner init --name "Ana Sousa" --email ana@example.org`, 'create the first account'],
    [holdfast`partner`, 'run the service in the foreground'],
  ]);
}

interface Place {
  readonly directory: string;
  readonly settings: PartnerSettings;
  readonly storeAddress: string;
  readonly keys: PartnerKeys;
}

/** Reads the settings and opens the keys, which the first start creates. */
async function openPlace(config: string | undefined, context: Context): Promise<Place> {
  const { env, clock, signal } = context;
  forbidCoreFiles();
  const directory = join(statePaths(env).directory, 'partner');
  await ensureStateDirectory(statePaths(env).directory);
  await ensureStateDirectory(directory);
  const home = homedir();
  const file = config ?? join(directory, 'partner.json');
  const settings = await readPartnerSettings(file, config !== undefined, { home, stateDirectory: directory });
  const secrets = { env: { ...env }, home, clock };
  const address = await storeAddress(settings, directory, secrets, signal);
  if (settings.postgres !== null && 'env' in settings.postgres) forgetVariables(env, [settings.postgres.env]);
  return { directory, settings, storeAddress: address, keys: await openPartnerKeys(settings.keyFile) };
}

/** Runs until the context's signal aborts. */
async function run(options: StartOptions, context: Context): Promise<void> {
  const { clock, signal, out, stderr } = context;
  const place = await openPlace(options.config, context);
  const settings: PartnerSettings = {
    ...place.settings,
    listen: {
      host: options.host ?? place.settings.listen.host,
      port: options.port === undefined ? place.settings.listen.port : portOf(options.port),
    },
  };
  const redactor = createRedactor();
  const log = createLog(settings.logLevel, { write: (line) => void stderr.write(line) }, redactor.redact);
  await using service = await startPartnerService({
    settings,
    storeAddress: place.storeAddress,
    keys: place.keys,
    version: programVersion(),
    clock,
    log,
  });
  for (const { target } of settings.webhooks.testTargets)
    log.warn({ target }, 'webhooks may go to this test receiver at any address');
  out.goOnWithout();
  const named = ['https_proxy', 'HTTPS_PROXY', 'all_proxy', 'ALL_PROXY'].find(
    (name) => (context.env[name] ?? '') !== '',
  );
  if (named !== undefined)
    log.warn(
      { variable: named },
      'webhooks go directly to their receivers, not through the proxy set by this variable',
    );
  await greet(service.address, options, context, (await service.stores.partners.list()).length > 0);
  await out.flush();
  if (!signal.aborted) await once(signal, 'abort');
  if (isHungUp(signal)) log.info('the service ends: its terminal was closed, or it was sent SIGHUP');
}

async function greet(
  address: string,
  options: StartOptions,
  { out }: Context,
  hasPartners: boolean,
): Promise<void> {
  if (options.json === true) {
    await out.json({ type: 'ready', address, pid: process.pid });
    return;
  }
  await out.line(`The Partner service is running at ${address}`);
  await out.line(`  Settings page  ${address}/settings`);
  await out.line(`  Documentation  ${address}/docs`);
  if (!hasPartners)
    await out.line(
      `There is no account yet. Create one with: ${holdfast`partner init --name NAME --email ADDRESS`}`,
    );
}

function portOf(text: string): number {
  const port = Number(text);
  if (Number.isInteger(port) && port >= 0 && port <= 65_535) return port;
  throw usage(`"${text}" is not a port`, 'Use a number from 1 to 65535, or 0 for any free port.');
}

async function makeAccount(options: InitOptions, context: Context): Promise<void> {
  const { clock, out } = context;
  if (!/^[^\s@]+@[^\s@]+$/.test(options.email))
    throw usage(`"${options.email}" is not an e-mail address`, 'Write it as name@host.');
  const place = await openPlace(options.config, context);
  const passwordHash = await hashPassword(await passwordOf(options, context));
  await using stores = await openPartnerStore(place.storeAddress, clock, {
    pepper: place.keys.pepper,
    chance: () => 0,
  });
  const partner = await stores.partners.create(
    { name: options.name, company: options.company ?? null, email: options.email, passwordHash },
    OPERATOR,
  );
  if (options.json === true) {
    await out.json({ type: 'partner', id: partner.id, name: partner.name, email: partner.email });
    return;
  }
  await out.line(
    `Created account ${partner.id} for ${printable(partner.name)}. Sign in as ${printable(partner.email)} at /settings.`,
  );
}

/** Works while the service runs, too: the new status applies from the next request on. */
async function setStatus(
  email: string,
  status: 'active' | 'suspended',
  options: PlaceOptions,
  context: Context,
): Promise<void> {
  const { clock, out } = context;
  const place = await openPlace(options.config, context);
  await using stores = await openPartnerStore(place.storeAddress, clock, {
    pepper: place.keys.pepper,
    chance: () => 0,
  });
  const partner = await accountOf(email, stores);
  const isChanged = await stores.partners.setStatus(partner.id, status, OPERATOR);
  if (options.json === true) {
    await out.json({ type: 'partner', id: partner.id, name: partner.name, email: partner.email, status });
    return;
  }
  await out.line(
    `Account ${partner.id} of ${printable(partner.name)} is ${status}${isChanged ? ' from now on' : ' already'}.`,
  );
}

/** Works while the service runs, too: the next sign-in needs the new password. */
async function resetAccess(email: string, options: ResetOptions, context: Context): Promise<void> {
  const { clock, out } = context;
  const place = await openPlace(options.config, context);
  await using stores = await openPartnerStore(place.storeAddress, clock, {
    pepper: place.keys.pepper,
    chance: () => 0,
  });
  // Before anybody is asked for a password.
  const partner = await accountOf(email, stores);
  const passwordHash = await hashPassword(await passwordOf(options, context));
  await stores.partners.resetAccess(partner.id, passwordHash, OPERATOR);
  if (options.json === true) {
    const removed = { second_factor_removed: partner.hasTotp };
    await out.json({ type: 'partner', id: partner.id, name: partner.name, email: partner.email, ...removed });
    return;
  }
  await out.line(
    `The password of ${printable(partner.email)} is set, ${partner.hasTotp ? 'the second factor is removed, ' : ''}and all sessions have ended. Sign in at /settings.`,
  );
}

/** @throws {RequestError} USAGE */
async function accountOf(email: string, { partners }: Pick<PartnerStores, 'partners'>): Promise<Partner> {
  const partner = await partners.findLogin(email);
  if (partner !== undefined) return partner;
  throw usage(`No account has the address ${printable(email)}`, 'Check the spelling.');
}

async function makeCopy(file: string, options: PlaceOptions, context: Context): Promise<void> {
  const { out } = context;
  const place = await openPlace(options.config, context);
  copyStore(place.storeAddress, resolve(file));
  if (options.json === true)
    await out.json({ type: 'copy', file: resolve(file), key_file: place.settings.keyFile });
  else
    await out.line(
      `Copied to ${printable(resolve(file))}. Keep the key of the service as well, without which the copy is useless: ${printable(place.settings.keyFile)}`,
    );
}

async function passwordOf(options: ResetOptions, context: Context): Promise<string> {
  const given = givenByOptions(options);
  if (given !== undefined) return await readGiven(given, context);
  if (canPrompt(context)) return await promptNewPassword(context);
  throw usage('There is no terminal to ask for a password', 'Use --password-file or --password-command.');
}
