/**
 * Lets the recovery kit of this computer open a repository that another one made, so that there is one kit to keep. Only
 * on request: everybody who has this kit can read all that the repository holds from then on.
 */
import { RepositoryError, RequestError } from '../../base/errors.ts';
import { holdfast } from '../../base/holdfast-command.ts';
import { passphraseCost } from '../../codec/kdf.ts';
import { parseRecoveryCode } from '../../codec/recovery-code.ts';
import { setValue } from '../../config/config-edit.ts';
import { kitPassphrase, kitRecoveryCode } from '../../daemon/places/kit-secrets.ts';
import { addKey } from '../../repository/keys/keys.ts';
import type { Secret } from '../../repository/slots/key-slots.ts';
import { memoryBytes } from '../../system/machine-memory.ts';
import type { Context } from '../command/context.ts';
import type { OutputOptions, RepositoryOptions } from '../command/options.ts';
import { statePaths } from '../command/state-directory.ts';
import { choosePlace, type ChosenPlace, knownPlace } from '../places/chosen-place.ts';
import { openAsStranger, shownLocation, withRepository } from '../places/open.ts';
import { changeSettings, readSettings } from '../places/settings-file.ts';
import { printable } from '../terminal/terminal.ts';

type KitOptions = RepositoryOptions & OutputOptions & { readonly label?: string };

export async function addRecoveryKit(options: KitOptions, context: Context): Promise<void> {
  const secrets = await secretsOfKit(context);
  const place = await knownPlace(await choosePlace(options, context), context);
  const slots: string[] = [];
  await withRepository(options, context, async (repository) => {
    const { id } = repository;
    for (const secret of secrets) {
      if (await opens(place, secret, id, context)) continue;
      const cost = passphraseCost(context.env, memoryBytes());
      const { slot } = await addKey(
        repository,
        { secret, label: options.label ?? 'recovery kit', cost },
        context.signal,
      );
      slots.push(slot);
    }
  });
  const changed = await useKit(place, context);
  if (options.json === true) {
    await context.out.json({ type: 'recovery_kit_added', ids: slots, passphrase_of_kit_used: changed });
    return;
  }
  const shown = printable(place.settings?.name ?? shownLocation(place.location));
  const what =
    slots.length === 0
      ? `The recovery kit of this computer opens ${shown} already.`
      : `The recovery kit of this computer opens ${shown} from now on. What opened it before still does.`;
  await context.out.line(changed ? `${what} The agent uses the passphrase of the kit for it now.` : what);
}

/** @throws {RequestError} NO_SUCH_KEY */
async function secretsOfKit({ env }: Context): Promise<readonly Secret[]> {
  const { directory } = statePaths(env);
  const text = await kitPassphrase(directory);
  if (text === undefined)
    throw new RequestError('NO_SUCH_KEY', 'This computer has no recovery kit yet', {
      hint: `The first start makes it: ${holdfast`start`}`,
    });
  const code = await kitRecoveryCode(directory);
  return [
    { kind: 'passphrase', text },
    ...(code === undefined ? [] : [{ kind: 'recovery', secret: parseRecoveryCode(code) } as const]),
  ];
}

/** A second slot for the same secret would be of no use. */
async function opens(place: ChosenPlace, secret: Secret, id: string, context: Context): Promise<boolean> {
  try {
    const opened = await openAsStranger(place, secret, context);
    await opened.close();
    return opened.id === id;
  } catch (error) {
    if (error instanceof RepositoryError && error.code === 'WRONG_PASSPHRASE') return false;
    throw error;
  }
}

/** The destination takes the passphrase of the kit, as one that this computer made. Returns whether it had another one. */
async function useKit({ settings }: ChosenPlace, context: Context): Promise<boolean> {
  if (settings === undefined || settings.passphrase === null) return false;
  const loaded = await readSettings(undefined, context);
  await changeSettings(
    [setValue(['destinations', settings.name, 'passphrase'], null)],
    loaded,
    undefined,
    context,
  );
  return true;
}
