/** Reads the configuration of the Partner service from its own file, once at start. */
import { join } from 'node:path';
import { type Static, Type } from '../base/schema-type.ts';
import { ConfigError } from '../config/config-error.ts';
import { readConfigBytes } from '../config/file-access.ts';
import { checkedText } from '../config/load.ts';
import type { Filled } from '../config/schema.ts';
import {
  choice,
  count,
  flag,
  group,
  list,
  object,
  orNull,
  secret,
  textOrNull,
  webUrl,
} from '../config/schema-parts.ts';
import { resolveSecret, type SecretContext } from '../config/secret.ts';
import type { SecretReference } from '../config/settings.ts';
import { createSchemaCheck } from '../config/validate.ts';
import { parseStoreAddress } from './store/address.ts';
import type { TestTargetSetting } from './webhooks/test-targets.ts';
import { absolutePath } from '../config/settings-context.ts';

export const PartnerConfigSchema = object(
  {
    $schema: Type.Optional(Type.String({ description: 'The schema of this file, for editors.' })),
    version: Type.Optional(
      Type.Integer({ description: 'The version of the format.', minimum: 1, maximum: 1, default: 1 }),
    ),
    listen: group('Where the service listens: behind a load balancer with TLS.', {
      host: Type.Optional(
        Type.String({ description: 'The address.', minLength: 1, maxLength: 253, default: '127.0.0.1' }),
      ),
      port: count('The port; 0 for a free one.', { default: 7_391, minimum: 0, maximum: 65_535 }),
    }),
    publicUrl: orNull(webUrl('Where partners and agents reach the service.'), {
      description:
        'Where partners and agents reach the service, as https://backup.example.org; null for the address that is listened on.',
    }),
    trustedProxies: list(
      null,
      'Addresses and networks of balancers, whose X-Forwarded-For says where a request comes from.',
      [],
    ),
    postgres: secret(
      'Where the address of a PostgreSQL database is, postgres://USER:PASSWORD@HOST/NAME; null for SQLite in the state directory.',
    ),
    keyFile: textOrNull(
      'absolute-path',
      'The file with the key of the service, the same for all instances; null for partner.key in the state directory, which the first start makes.',
    ),
    webhooks: group('Messages to the programs of partners.', {
      workers: count('How many are sent at once.', { default: 16, minimum: 1, maximum: 256 }),
      testTargets: Type.Optional(
        Type.Array(
          object(
            {
              target: Type.String({
                description: 'Host and port, exactly as in the URL.',
                minLength: 1,
                maxLength: 300,
              }),
              caFile: Type.String({
                description:
                  'A file with the certificate of the authority that the receiver’s comes from (PEM).',
                format: 'absolute-path',
                minLength: 1,
                maxLength: 4_096,
              }),
            },
            { description: 'A receiver of tests.' },
          ),
          {
            description:
              'Receivers of tests, which may be on this machine or in a private network. Not for real ones: the service logs them at each start.',
            default: [],
            maxItems: 20,
          },
        ),
      ),
    }),
    metrics: flag('Give out figures for Prometheus at /metrics, to anybody who can reach it.', false),
    log: group('The log, on standard error.', {
      level: choice(
        ['fatal', 'error', 'warn', 'info', 'debug', 'trace'],
        'The least serious kind of line that is written.',
        'info',
      ),
    }),
  },
  { title: 'Holdfast Partner service' },
);

type PartnerConfig = Filled<Omit<Static<typeof PartnerConfigSchema>, '$schema'>>;

export interface PartnerSettings {
  readonly listen: { readonly host: string; readonly port: number };
  /** Without a trailing slash; null for the address that is listened on. */
  readonly publicUrl: string | null;
  readonly trustedProxies: readonly string[];
  readonly postgres: SecretReference | null;
  readonly keyFile: string;
  readonly webhooks: { readonly workers: number; readonly testTargets: readonly TestTargetSetting[] };
  readonly metrics: boolean;
  readonly logLevel: PartnerConfig['log']['level'];
}

export interface PartnerSettingsContext {
  /** Directory that `~` stands for. */
  readonly home: string;
  readonly stateDirectory: string;
}

const check = createSchemaCheck<PartnerConfig>('partner-settings', PartnerConfigSchema);

/**
 * Reads the settings; all have defaults when the file is missing and not required.
 * @throws {ConfigError} with every mistake in the file, or CONFIG_MISSING
 */
export async function readPartnerSettings(
  file: string,
  required: boolean,
  context: PartnerSettingsContext,
): Promise<PartnerSettings> {
  const bytes = await readConfigBytes(file);
  if (bytes === undefined && required)
    throw new ConfigError('CONFIG_MISSING', `There is no configuration ${file}`, {
      hint: 'Check the path, or leave out --config to use the defaults.',
    });
  const { value } = checkedText(file, bytes ?? Buffer.from('{}'), check);
  return {
    listen: value.listen,
    publicUrl: value.publicUrl?.replace(/\/+$/, '') ?? null,
    trustedProxies: value.trustedProxies,
    postgres: value.postgres as SecretReference | null,
    keyFile:
      value.keyFile === null
        ? join(context.stateDirectory, 'partner.key')
        : absolutePath(value.keyFile, context),
    webhooks: {
      workers: value.webhooks.workers,
      testTargets: value.webhooks.testTargets.map(({ target, caFile }) => ({
        target,
        caFile: absolutePath(caFile, context),
      })),
    },
    metrics: value.metrics,
    logLevel: value.log.level,
  };
}

/**
 * The address of the store, as `openPartnerStore` takes it.
 * @throws {ConfigError} SECRET_UNAVAILABLE, SECRET_UNSAFE; {RequestError} INVALID_URL
 */
export async function storeAddress(
  { postgres }: Pick<PartnerSettings, 'postgres'>,
  stateDirectory: string,
  secrets: SecretContext,
  signal: AbortSignal,
): Promise<string> {
  if (postgres === null) return `sqlite:${join(stateDirectory, 'partner.sqlite')}`;
  const address = (await resolveSecret(postgres, secrets, signal)).reveal();
  parseStoreAddress(address);
  return address;
}
