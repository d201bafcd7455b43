/** Opens a location as people write it as a destination of its kind. Only the library of that kind is loaded. */
import { DestinationError } from '../../base/errors.ts';
import { toldAsWait } from '../../base/waits.ts';
import { answersFrom } from '../../system/far-answer.ts';
import { azureAccess, type DestinationAccess } from '../access.ts';
import { withAdaptiveParallelism } from './adaptive.ts';
import type { Destination } from '../destination.ts';
import type { UploadPace } from '../limited.ts';
import { openLocalDestination } from '../local/local.ts';
import { parseLocation, type Location } from '../location.ts';
import { briefPolicy, persist, sleepFor, withRetry } from '../retry.ts';

export interface OpenOptions {
  /** Creates a missing directory or folder. Buckets and containers are never created. */
  readonly create?: boolean;
  /** Limits how fast objects are stored. */
  readonly pace?: UploadPace | undefined;
  /** Credentials and settings to reach a remote place. */
  readonly access?: DestinationAccess | undefined;
  /** Whose environment to use for what `access` does not say. */
  readonly person?: Person | undefined;
}

/** The user whose ssh agent, keys and environment variables may be used. Plain data, as `access` is. */
export interface Person {
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Home directory. */
  readonly home: string;
}

/** Environment variables that say how a destination is reached. The AWS library reads its own variables itself. */
const VARIABLES = /^(?:HOLDFAST_SFTP_\w+|SSH_AUTH_SOCK|USER|LOGNAME|AZURE_STORAGE_\w+|RCLONE_\w+|PATH)$/i;

/** Variables that rclone reads in addition to its own: the place of its configuration, proxies, and certificates. */
const OF_RCLONE =
  /^(?:XDG_\w+|(?:HTTPS?|ALL|NO)_PROXY|SSL_CERT_(?:FILE|DIR)|KRB5\w+|APPDATA|LOCALAPPDATA|USERPROFILE|SYSTEMROOT|TMPDIR|TEMP|TMP)$/i;

/** Variables of the cloud stores' own tools, with which an rclone remote with `env_auth` signs in. */
const SIGNS_IN = /^(?:AWS|AZURE|GOOGLE|OCI|OS|ST)_\w+$/;

/**
 * Reduces the environment to the variables that matter here, to hand it to another process or thread.
 * @param childEnv the part of `env` that child processes may get; all of it by default
 */
export function personOf({
  env,
  childEnv = env,
  home,
}: Person & { readonly childEnv?: Person['env'] | undefined }): Person {
  const isOfUse = ([name]: readonly [string, unknown]): boolean =>
    VARIABLES.test(name) || ((OF_RCLONE.test(name) || SIGNS_IN.test(name)) && Object.hasOwn(childEnv, name));
  return { env: Object.fromEntries(Object.entries(env).filter(isOfUse)), home };
}

/**
 * Opens `location`: a path, absolute or relative to the working directory, or a URL. Calls to a remote place are
 * retried after temporary failures. Opening itself is retried for half a minute, and only where the store answers, so
 * that the caller learns at once that a place is away. An aborted signal rejects with its reason, even while a server
 * is silent. Throws a RequestError with code `INVALID_DESTINATION` or `SECRET_IN_URL`, and whatever opening the
 * destination throws.
 */
export async function openDestination(
  location: string,
  options: OpenOptions = {},
  signal: AbortSignal = new AbortController().signal,
): Promise<Destination> {
  signal.throwIfAborted();
  const place = parseLocation(location);
  if (place.kind === 'local') {
    const answers = async (): Promise<boolean> => await answersFrom(place.directory, signal);
    if (!(await toldAsWait('file_system', answers))) throw notAnswering(place.directory);
    return await openLocalDestination(place.directory, options);
  }
  const open = async (): Promise<Destination> => await openRemote(place, options, signal);
  const opened = ASKED_AGAIN.has(place.kind)
    ? await persist(open, { policy: briefPolicy, sleep: sleepFor }, signal)
    : await open();
  return withRetry(withAdaptiveParallelism(opened));
}

function notAnswering(directory: string): DestinationError {
  return new DestinationError('unreachable', `The file system of ${directory} does not answer`, {
    op: 'open',
    hint: 'Check that its server or program is running, or unmount it.',
    retry: 'later',
  });
}

/**
 * Kinds whose failed answers to opening show whether they are temporary. S3 retries each request of its opening itself.
 */
const ASKED_AGAIN: ReadonlySet<Location['kind']> = new Set(['azblob', 'gs', 'webdav']);

async function openRemote(
  place: Exclude<Location, { readonly kind: 'local' }>,
  options: OpenOptions,
  signal: AbortSignal,
): Promise<Destination> {
  const { access = {}, person = { env: {}, home: '' } } = options;
  switch (place.kind) {
    case 's3': {
      const { openS3Destination } = await import('../s3/s3.ts');
      return await openS3Destination(place, access.s3, options, signal);
    }
    case 'azblob': {
      const { openAzureDestination } = await import('../azure/azure.ts');
      const known = azureAccess(person.env, place, access.azblob);
      return await openAzureDestination(known.place, known.access, options, signal);
    }
    case 'gs': {
      const { openGoogleDestination } = await import('../gcs/gcs.ts');
      return await openGoogleDestination(place, access.gs, options, signal);
    }
    case 'sftp': {
      const { openSftpDestination } = await import('../sftp/sftp.ts');
      return await openSftpDestination(
        place,
        access.sftp ?? {},
        {
          ...options,
          environment: person.env,
          home: person.home === '' ? undefined : person.home,
        },
        signal,
      );
    }
    case 'webdav': {
      const { openWebdavDestination } = await import('../webdav/webdav.ts');
      return await openWebdavDestination(place, access.webdav ?? {}, options, signal);
    }
    case 'rclone': {
      const { openRcloneDestination } = await import('../rclone/rclone.ts');
      return await openRcloneDestination(
        place,
        access.rclone ?? {},
        {
          ...options,
          environment: person.env,
          home: person.home === '' ? undefined : person.home,
        },
        signal,
      );
    }
  }
}
