import { localTime } from '../../base/units.ts';
import { randomBytes } from 'node:crypto';
import { rm } from 'node:fs/promises';
import { hostname } from 'node:os';
import type { Command } from 'commander';
import { RequestError, StateError, errnoOf } from '../../base/errors.ts';
import { openNewPrivate } from '../../base/private-files.ts';
import { holdfast, holdfastElsewhere, holdfastThere } from '../../base/holdfast-command.ts';
import { passphraseCost } from '../../codec/kdf.ts';
import { formatRecoveryCode } from '../../codec/recovery-code.ts';
import type { Secret } from '../../repository/slots/key-slots.ts';
import {
  addKey,
  listKeys,
  removeKey,
  replaceKey,
  type KeyInfo,
  type NewKey,
} from '../../repository/keys/keys.ts';
import type { Repository } from '../../repository/repository.ts';
import { writeOnlyKeyText } from '../../repository/slots/typed-secret.ts';
import { memoryBytes } from '../../system/machine-memory.ts';
import { tooShortText } from '../../repository/resolve-snapshot.ts';
import type { Context } from '../command/context.ts';
import { drilledKeys } from './drilled-keys.ts';
import { defineDrill } from './drill.ts';
import { defineRotation, whatRemovalLeaves } from './rotation.ts';
import { chosenPassphrase } from './new-passphrase.ts';
import { withRepository } from '../places/open.ts';
import {
  addExamples,
  addOutputOptions,
  addRepositoryOptions,
  usage,
  type OutputOptions,
  type RepositoryOptions,
  oneLine,
} from '../command/options.ts';
import { canPrompt, promptNewPassphrase } from '../terminal/prompt.ts';
import { givenByOptions, readGiven } from '../places/secret.ts';
import {
  createMachineKey,
  ensureStateDirectory,
  readMachineKey,
  statePaths,
} from '../command/state-directory.ts';
import { renderTable } from '../terminal/table.ts';
import { createStyles, printable, terminalWidth, wantsColor } from '../terminal/terminal.ts';
import { shortId } from '../terminal/wording.ts';

type KeyOptions = RepositoryOptions & OutputOptions;

interface NewPassphraseOptions {
  readonly newPasswordFile?: string;
  readonly newPasswordCommand?: string;
  readonly label?: string;
}

interface AddOptions extends KeyOptions, NewPassphraseOptions {
  readonly recoveryCode?: boolean;
  readonly thisMachine?: boolean;
  readonly writeOnly?: string;
  readonly recoveryKit?: boolean;
}

interface PasswdOptions extends KeyOptions, NewPassphraseOptions {
  readonly key?: string;
}

export function define(command: Command, context: Context): void {
  command.usage('COMMAND [options]').helpCommand(false);
  const sub = (name: string, purpose: string): Command =>
    command
      .command(name)
      .summary(purpose)
      .description(`${purpose}.`)
      .helpOption('-h, --help', 'Show this help');

  const list = addCommon(
    sub('list', 'List the keys that open the repository'),
    'One JSON object for each key',
  );
  list.action(async (options: KeyOptions) => {
    await withRepository(options, context, async (repository) => {
      const drilled = await drilledKeys(statePaths(context.env).directory, repository.id);
      await showKeys(await listKeys(repository, context.signal), drilled, options, context);
    });
  });

  const add = sub('add', 'Add a key: a passphrase, a recovery code or this machine');
  add
    .optionsGroup('The new key:')
    .option('--recovery-code', 'Create a recovery code and print it')
    .option('--this-machine', 'Let this machine open its embedded repository without a passphrase')
    .option('--recovery-kit', 'Let the recovery kit of this computer open the repository of another one')
    .option(
      '--write-only <file>',
      'Create a key for a machine that can add backups but not read any, and write it to a new file',
    );
  addNewPassphrase(add);
  addCommon(add, 'The result as a JSON object');
  add.action(async (options: AddOptions) => {
    requireOneKind(options);
    if (options.recoveryKit === true) {
      const { addRecoveryKit } = await import('./add-recovery-kit.ts');
      await addRecoveryKit(options, context);
      return;
    }
    await withRepository(options, context, async (repository) => await addOne(repository, options, context));
  });

  const remove = sub('remove', 'Remove a key').argument(
    '<id>',
    'its id, or the beginning of it, from "keys list"',
  );
  addCommon(remove, 'The result as a JSON object');
  remove.action(async (id: string, options: KeyOptions) => {
    await withRepository(options, context, async (repository) => {
      const { slot, kind } = chooseKey(await listKeys(repository, context.signal), id);
      await removeKey(repository, slot, context.signal);
      await say(
        `Removed the ${WORDS[kind]} ${shortId(slot)}.${whatRemovalLeaves(repository)}`,
        { type: 'key_removed', id: slot, generation: repository.keys.generation },
        options,
        context,
      );
    });
  });

  const passwd = sub('passwd', 'Change a passphrase');
  addNewPassphrase(passwd).option(
    '--key <id>',
    'The passphrase to change; by default the one that opened the repository',
  );
  addCommon(passwd, 'The result as a JSON object');
  passwd.action(async (options: PasswdOptions) => {
    await withRepository(options, context, async (repository) => {
      await replaceOne(repository, options, context);
    });
  });
  defineRotation(sub, context);
  defineDrill(sub, context);
  addExamples(command, [
    [holdfast`keys list`, 'see what opens the repository'],
    [holdfast`keys add --recovery-code`, 'create another recovery code'],
    [holdfast`keys drill`, 'test that the recovery code on paper works'],
    [holdfast`keys add --write-only web1.key`, 'let a server add backups that it cannot read'],
  ]);
}

function addCommon(command: Command, json: string): Command {
  addRepositoryOptions(command);
  return addOutputOptions(command, { json });
}

function addNewPassphrase(command: Command): Command {
  return command
    .optionsGroup('The new key:')
    .option('--new-password-file <file>', 'Read the new passphrase from a file')
    .option('--new-password-command <command>', 'Get the new passphrase from a command')
    .option('--label <text>', 'A name to recognise it by', oneLine);
}

async function addOne(repository: Repository, options: AddOptions, context: Context): Promise<void> {
  const { env, signal } = context;
  if (options.writeOnly !== undefined) {
    await addWriteOnly(repository, options.writeOnly, options, context);
    return;
  }
  const { secret, label, shown } = await newSecret(options, context);
  const { slot } = await addKey(repository, newKey(secret, options.label ?? label, env), signal);
  const text =
    shown === undefined ? '' : `\n\nRecovery code  ${shown}\n\nIt is not shown again. Write it down.`;
  const object = { type: 'key_added', id: slot, kind: secret.kind, ...(shown && { recovery_code: shown }) };
  await say(`Added the ${WORDS[secret.kind]} ${shortId(slot)}.${text}`, object, options, context);
}

/**
 * Refuses two kinds of keys at once: a user who gives a passphrase with another kind would believe that it opens the
 * repository.
 */
function requireOneKind(options: AddOptions): void {
  const { recoveryCode, recoveryKit, thisMachine, writeOnly, newPasswordFile, newPasswordCommand } = options;
  const passphrase = newPasswordFile ?? newPasswordCommand;
  const kinds = [recoveryCode, recoveryKit, thisMachine, writeOnly, passphrase];
  if (kinds.filter((kind) => kind !== undefined).length > 1)
    throw usage('Only one kind of key can be added at a time', 'Run the command once for each key.');
}

async function addWriteOnly(
  repository: Repository,
  file: string,
  options: AddOptions,
  context: Context,
): Promise<void> {
  const secret = randomBytes(32);
  // The file is written first: a key slot whose secret was not kept is of no use.
  await writeKeyFile(file, `${writeOnlyKeyText(secret)}\n`);
  const key: Secret = { kind: 'write-only', secret };
  let slot: string;
  try {
    const label = options.label ?? 'write-only key';
    ({ slot } = await addKey(repository, newKey(key, label, context.env), context.signal));
  } catch (error) {
    await rm(file, { force: true });
    throw error;
  }
  const lines = [
    `Added the write-only key ${shortId(slot)}, in the file ${printable(file)}.`,
    '',
    'Move the file to the machine that will back up with it, and delete it here. Use one key for each machine.',
    `There: ${holdfastElsewhere`backup --repository … --password-file FILE PATH`}`,
    'That machine cannot read, forget or prune any backup, not even its own.',
  ];
  const object = { type: 'key_added', id: slot, kind: key.kind, file };
  await say(lines.join('\n'), object, options, context);
}

/** @throws {StateError} also when there is such a file */
async function writeKeyFile(file: string, text: string): Promise<void> {
  try {
    await using handle = await openNewPrivate(file);
    await handle.writeFile(text);
    await handle.sync();
  } catch (cause) {
    const exists = errnoOf(cause) === 'EEXIST';
    throw new StateError(
      'WRITE_ERROR',
      exists ? `${file} already exists` : `The key file ${file} cannot be written`,
      {
        hint: exists
          ? 'Choose another file name: the existing file may be another key.'
          : 'Check that the directory exists and is writable.',
        cause,
      },
    );
  }
}

async function newSecret(
  options: AddOptions,
  context: Context,
): Promise<{ secret: Secret; label: string; shown?: string }> {
  if (options.recoveryCode === true) {
    const secret = randomBytes(32);
    return {
      secret: { kind: 'recovery', secret },
      label: 'recovery code',
      shown: formatRecoveryCode(secret),
    };
  }
  if (options.thisMachine === true) {
    const paths = statePaths(context.env);
    await ensureStateDirectory(paths.directory);
    const secret = (await readMachineKey(paths)) ?? (await createMachineKey(paths));
    return { secret: { kind: 'machine', secret }, label: hostname() };
  }
  return { secret: await newPassphraseSecret(options, context), label: 'passphrase' };
}

async function newPassphraseSecret(
  { newPasswordFile, newPasswordCommand }: NewPassphraseOptions,
  context: Context,
): Promise<Secret> {
  const given = givenByOptions({
    ...(newPasswordFile === undefined ? {} : { passwordFile: newPasswordFile }),
    ...(newPasswordCommand === undefined ? {} : { passwordCommand: newPasswordCommand }),
  });
  if (given !== undefined)
    return { kind: 'passphrase', text: chosenPassphrase(await readGiven(given, context)) };
  if (canPrompt(context))
    return { kind: 'passphrase', text: chosenPassphrase(await promptNewPassphrase(context)) };
  throw usage(
    'No new passphrase was given, and there is no terminal to ask for it',
    'Use --new-password-file or --new-password-command.',
  );
}

async function replaceOne(repository: Repository, options: PasswdOptions, context: Context): Promise<void> {
  const old = passphraseToReplace(await listKeys(repository, context.signal), options.key);
  const secret = await newPassphraseSecret(options, context);
  const key = newKey(secret, options.label ?? old.label, context.env);
  const { slot } = await replaceKey(repository, old.slot, key, context.signal);
  const object = {
    type: 'key_replaced',
    id: slot,
    old_id: old.slot,
    generation: repository.keys.generation,
  };
  const text = `The passphrase was changed. The old one no longer opens the repository.${whatRemovalLeaves(repository)}`;
  await say(text, object, options, context);
}

function passphraseToReplace(keys: readonly KeyInfo[], id: string | undefined): KeyInfo {
  if (id !== undefined) return chooseKey(keys, id);
  const passphrases = keys.filter(({ kind, state }) => kind === 'passphrase' && state !== 'unknown');
  const key =
    passphrases.find(({ current }) => current) ?? (passphrases.length === 1 ? passphrases[0] : undefined);
  if (key !== undefined) return key;
  throw new RequestError('WHICH_KEY', 'There are several passphrases, and none was named', {
    hint: `Name the one to change with --key ID, from: ${holdfastThere`keys list`}`,
  });
}

function chooseKey(keys: readonly KeyInfo[], id: string): KeyInfo {
  const matches = keys.filter(({ slot }) => /^[0-9a-f]{4,32}$/.test(id) && slot.startsWith(id));
  const [only] = matches;
  if (only !== undefined && matches.length === 1) return only;
  const none = tooShortText(id, 4) ?? `There is no key "${id}"`;
  const message = matches.length === 0 ? none : `"${id}" is the beginning of ${matches.length} keys`;
  throw new RequestError('NO_SUCH_KEY', message, {
    hint: `Give at least four digits of an id from: ${holdfastThere`keys list`}`,
  });
}

function newKey(secret: Secret, label: string, env: Context['env']): NewKey {
  return { secret, label, cost: passphraseCost(env, memoryBytes()) };
}

const WORDS = {
  passphrase: 'passphrase',
  recovery: 'recovery code',
  machine: 'machine key',
  'write-only': 'write-only key',
};
const STATES = {
  sound: '',
  missing: 'its file is missing',
  damaged: 'its file is damaged',
  unknown: 'left over, opens nothing',
};

async function showKeys(
  keys: readonly KeyInfo[],
  drilled: ReadonlyMap<string, number>,
  options: OutputOptions,
  { out, env }: Context,
): Promise<void> {
  if (options.json === true) {
    for (const { slot, kind, number, label, createdMs, current, state } of keys) {
      const created = createdMs === undefined ? null : new Date(createdMs).toISOString();
      const drill = drilled.get(slot);
      const numbered = number === undefined ? {} : { number };
      await out.json({
        type: 'key',
        id: slot,
        kind,
        ...numbered,
        label,
        created_at: created,
        current,
        state,
        last_drilled_at: drill === undefined ? null : new Date(drill).toISOString(),
      });
    }
    return;
  }
  const { bold } = createStyles(wantsColor(out.stream, env));
  const rows = keys.map(({ slot, kind, number, label, createdMs, current, state }) => [
    shortId(slot),
    number === undefined ? WORDS[kind] : `${WORDS[kind]} ${number}`,
    label,
    createdMs === undefined ? '' : localTime(createdMs),
    shownDrill(drilled.get(slot)),
    current ? 'used now' : STATES[state],
  ]);
  const columns = [
    { title: 'ID', cut: 'never' as const },
    { title: 'Kind', cut: 'never' as const },
    { title: 'Label' },
    { title: 'Since', cut: 'never' as const },
    { title: 'Last tested', cut: 'never' as const },
    { title: '' },
  ];
  await out.write(renderTable(columns, rows, { width: terminalWidth(out.stream), titleStyle: bold }));
}

function shownDrill(atMs: number | undefined): string {
  return atMs === undefined ? '' : localTime(atMs);
}

async function say(text: string, object: object, options: OutputOptions, { out }: Context): Promise<void> {
  if (options.json === true) await out.json(object);
  else await out.line(text);
}
