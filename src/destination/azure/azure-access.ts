/** Which Azure account to use and which credentials: those of the settings, otherwise those of the environment. */
import type { AzureAccess } from '../access.ts';
import type { AzurePlace } from '../location.ts';

type Environment = Readonly<Record<string, string | undefined>>;

/**
 * Fills in from the environment what the URL and the settings leave open. The variables are those of Azure's own tools.
 */
export function azureAccess(
  environment: Environment,
  place: AzurePlace,
  settings: AzureAccess = {},
): { readonly place: AzurePlace; readonly access: AzureAccess } {
  const given = (name: string): string | undefined => environment[name] || undefined;
  const isNamed = settings.accountKey !== undefined || settings.sasToken !== undefined;
  return {
    place: { ...place, account: place.account ?? given('AZURE_STORAGE_ACCOUNT') },
    access: isNamed
      ? settings
      : { accountKey: given('AZURE_STORAGE_KEY'), sasToken: given('AZURE_STORAGE_SAS_TOKEN') },
  };
}
