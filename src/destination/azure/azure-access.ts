/** Which account, and with what: of the settings, else of the environment. */
import type { AzureAccess } from '../access.ts';
import type { AzurePlace } from '../location.ts';

type Environment = Readonly<Record<string, string | undefined>>;

/** What the environment says where the URL and the settings do not; the names are those of Azure's own tools. */
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
