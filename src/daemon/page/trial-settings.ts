/** Builds a destination that is not saved yet, in the form that it would have in the settings. */
import { RequestError } from '../../base/errors.ts';
import { buildSettings } from '../../config/effective-settings.ts';
import type { FilledConfig } from '../../config/schema.ts';
import type { DestinationSettings } from '../../config/settings.ts';
import { checkAgainstSchema } from '../../config/validate.ts';
import type { SettingsContext } from '../../config/settings-context.ts';

/** @throws {RequestError} INVALID_DESTINATION, SECRET_IN_URL for faults that the schema does not cover */
export function destinationAsSaved(
  name: string,
  destination: FilledConfig['destinations'][string],
  context: SettingsContext,
): DestinationSettings {
  const { value } = checkAgainstSchema({ destinations: { [name]: destination }, defaultDestination: name });
  const built = value === undefined ? undefined : buildSettings(value, context);
  const settings = built?.settings?.destinations.find((one) => one.name === name);
  if (settings !== undefined) return settings;
  const [fault] = built?.faults ?? [];
  throw new RequestError(
    fault?.code === 'SECRET_IN_URL' ? 'SECRET_IN_URL' : 'INVALID_DESTINATION',
    fault?.message ?? 'The destination cannot be used',
    { hint: fault?.hint ?? 'Check its settings.', details: { field: 'destination' } },
  );
}
