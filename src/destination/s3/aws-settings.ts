/**
 * Reads what the environment and the files of the AWS tools say in addition to credentials. Addresses of other stores
 * are refused: the AWS library would follow them, and the same URL would mean two different stores.
 */
import { readFile } from 'node:fs/promises';
import { loadConfig } from '@smithy/core/config';
import { causeText } from '../../base/errno-words.ts';
import { DestinationError, RequestError } from '../../base/errors.ts';
import { processEnvironment } from '../../base/web/process-environment.ts';
import type { S3Access } from '../access.ts';
import type { S3Place } from '../location.ts';

export interface AwsSettings {
  /** Undefined where none is configured. */
  readonly region: string | undefined;
  /** Certificates (PEM) to trust in addition. */
  readonly certificates: string | undefined;
}

/** @throws {RequestError} INVALID_DESTINATION when the AWS settings name another store; {DestinationError} */
export async function awsSettings(place: S3Place, access: S3Access, url: string): Promise<AwsSettings> {
  const { profile, accessKeyId } = access;
  const options = profile === undefined ? {} : { profile };
  const look = async (variables: readonly string[], setting: string): Promise<string | undefined> =>
    (await loadConfig(
      {
        environmentVariableSelector: (env) =>
          variables.map((name) => env[name]).find((value) => value !== undefined && value !== ''),
        configFileSelector: (found) => found[setting],
        default: '',
      },
      options,
    )()) || undefined;
  if (place.endpoint === undefined) await refuseOtherStore(place, options, look);
  const bundle = await look(['AWS_CA_BUNDLE'], 'ca_bundle');
  // As for credentials: what the settings of the destination give is not looked for in the environment or the files.
  const isGiven = place.region !== undefined || accessKeyId !== undefined;
  return {
    region:
      place.region ?? (isGiven ? undefined : await look(['AWS_REGION', 'AWS_DEFAULT_REGION'], 'region')),
    certificates: bundle === undefined ? undefined : await certificatesIn(bundle, url),
  };
}

type Look = (variables: readonly string[], setting: string) => Promise<string | undefined>;

async function refuseOtherStore(
  { bucket, prefix }: S3Place,
  options: { readonly profile?: string },
  look: Look,
): Promise<void> {
  const ignored = await look(['AWS_IGNORE_CONFIGURED_ENDPOINT_URLS'], 'ignore_configured_endpoint_urls');
  if (ignored?.toLowerCase() === 'true') return;
  const found =
    (await look(['AWS_ENDPOINT_URL_S3', 'AWS_ENDPOINT_URL'], 'endpoint_url')) ??
    (await endpointOfServices(options));
  if (found === undefined) return;
  const named = ['AWS_ENDPOINT_URL_S3', 'AWS_ENDPOINT_URL'].find(
    (name) => (processEnvironment[name] ?? '') !== '',
  );
  const by =
    named === undefined ? 'The configuration of the AWS tools (endpoint_url)' : `The variable ${named}`;
  const bare = found.replace(/[?#].*$/s, '').replace(/\/\/[^/@]*@/, '//');
  const base = `s3://${bucket}${prefix === '' ? '' : `/${prefix}`}?endpoint=`;
  throw new RequestError('INVALID_DESTINATION', `${by} names another store than the URL of the destination`, {
    op: 'open destination',
    hint: `A URL without an endpoint always means Amazon’s own store. For the other store write ${base}${bare}. For Amazon’s store, set AWS_IGNORE_CONFIGURED_ENDPOINT_URLS=true or remove the other setting.`,
  });
}

/**
 * The endpoint for S3 in the section `services NAME` of the AWS configuration, where the profile has `services = NAME`.
 */
async function endpointOfServices(options: { readonly profile?: string }): Promise<string | undefined> {
  const found = await loadConfig(
    {
      environmentVariableSelector: () => undefined,
      configFileSelector: ({ services }, all) =>
        services === undefined ? undefined : all?.[`services.${services}`]?.['s3.endpoint_url'],
      default: '',
    },
    options,
  )();
  return found === '' ? undefined : found;
}

async function certificatesIn(file: string, url: string): Promise<string> {
  const refused = (why: string, cause?: unknown): DestinationError =>
    new DestinationError('denied', `Cannot open ${url}: ${file}, which AWS_CA_BUNDLE names, ${why}`, {
      op: 'open',
      hint: 'Use a file with certificates in PEM format.',
      cause,
    });
  let text;
  try {
    text = await readFile(file, 'utf8');
  } catch (error) {
    throw refused(`cannot be read: ${causeText(error)}`, error);
  }
  if (!text.includes('-----BEGIN ')) throw refused('is not such a file');
  return text;
}

/**
 * Identifies Amazon's partition by its region. Those of China and of governments are separate stores, which may have a
 * bucket of the same name.
 */
export function amazonOf(region: string | undefined): string {
  const [, other] = /^(cn|us-gov|us-iso[a-z]*|eu-iso[a-z]*|eusc)-/.exec(region ?? '') ?? [];
  return other === undefined ? 'Amazon' : `Amazon ${other}`;
}
