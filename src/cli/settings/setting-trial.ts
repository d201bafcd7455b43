/** Tries out a setting that would send backups to another directory of this machine before it is written. */
import { applyChanges, type ConfigChange } from '../../config/config-edit.ts';
import { loadConfig } from '../../config/load.ts';
import type { DestinationSettings, Settings } from '../../config/settings.ts';
import { directoryOf } from '../../destination/location.ts';
import { settingsContext } from '../places/settings-file.ts';
import type { Context } from '../command/context.ts';
import { checkChange, readSettings, settingsOrDefaults } from '../places/settings-file.ts';
import { configFile } from '../command/state-directory.ts';
import { requireUsable } from './usable-destination.ts';

/**
 * Tries out a change that sends backups to another local directory. Remote places are not tried here: their address and
 * access are set one after the other, and `holdfast destinations test` tries them then.
 * @param insisting the command that makes the change nevertheless
 * @throws {DestinationError} when backups could not be kept there
 */
export async function tryChange(change: ConfigChange, insisting: string, context: Context): Promise<void> {
  const loaded = await readSettings(undefined, context);
  await checkChange([change], loaded, undefined, context);
  const before = loaded?.settings ?? (await settingsOrDefaults(undefined, context));
  const file = configFile(undefined, context.env);
  const text = Buffer.from(applyChanges(loaded?.text ?? '{}', [change]));
  const after = loadConfig(file, text, settingsContext(context.env)).settings;
  for (const place of toBeTried(before, after))
    await requireUsable(place, { refused: 'Nothing was changed', command: insisting }, context);
}

function toBeTried(before: Settings, after: Settings): readonly DestinationSettings[] {
  const known = new Map(before.destinations.map(({ name, url }) => [name, url]));
  return after.destinations.filter(({ name, url, untested }) => {
    const isElsewhere = known.get(name) !== url;
    const isChosen = name === after.defaultDestination && name !== before.defaultDestination;
    const isOnMachine = directoryOf(url) !== undefined && url !== after.embedded.url;
    return isOnMachine && untested !== true && (isElsewhere || isChosen);
  });
}
