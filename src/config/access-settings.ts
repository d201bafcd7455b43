/** Builds a destination's access settings from the file's values. */
import { ACCESS_SCHEMES } from './access-schema.ts';
import type { FilledConfig } from './schema.ts';
import type { AccessSettings, SecretReference } from './settings.ts';
import type { Fault } from './validate.ts';
import { absolutePath, type SettingsContext } from './settings-context.ts';

type Written = NonNullable<FilledConfig['destinations'][string]['access']>;

interface AccessScene {
  /** Name of the destination. */
  readonly name: string;
  readonly url: string;
  readonly context: SettingsContext;
  readonly faults: Fault[];
}

export function buildAccess(written: Written, scene: AccessScene): AccessSettings {
  refuseMisplaced(written, scene);
  const { s3, sftp, webdav, azblob, gs, rclone } = written;
  const path = (text: string | null): string | null =>
    text === null ? null : absolutePath(text, scene.context);
  return {
    s3: s3 && buildS3(s3, scene),
    sftp: sftp && {
      keyFile: path(sftp.keyFile),
      keyPassphrase: reference(sftp.keyPassphrase),
      password: reference(sftp.password),
      hostKeyFile: path(sftp.hostKeyFile),
      appendOnly: sftp.appendOnly,
      connections: sftp.connections,
    },
    webdav: webdav && {
      user: webdav.user,
      password: reference(webdav.password),
      token: reference(webdav.token),
      caFile: path(webdav.caFile),
    },
    azblob: azblob && { accountKey: reference(azblob.accountKey), sasToken: reference(azblob.sasToken) },
    gs: gs && { credentials: reference(gs.credentials), storageClass: gs.storageClass },
    rclone: rclone && {
      program: path(rclone.program),
      configFile: path(rclone.configFile),
      configPassword: reference(rclone.configPassword),
    },
  };
}

function buildS3(s3: NonNullable<Written['s3']>, { name, faults }: AccessScene): AccessSettings['s3'] {
  const { objectLockDays, objectLockMode, ...rest } = s3;
  if ((s3.accessKeyId === null) !== (s3.secretAccessKey === null)) {
    faults.push({
      path: ['destinations', name, 'access', 's3'],
      code: 'CONFIG_INVALID',
      message: 'The access key and its secret go together',
      hint: 'Write both accessKeyId and secretAccessKey, or neither.',
    });
  }
  return {
    ...rest,
    secretAccessKey: reference(s3.secretAccessKey),
    sessionToken: reference(s3.sessionToken),
    objectLock: objectLockDays === null ? null : { mode: objectLockMode, days: objectLockDays },
  };
}

/** Rejects access settings for another kind of destination, which would otherwise be silently ignored. */
function refuseMisplaced(written: Written, { name, url, faults }: AccessScene): void {
  for (const [kind, scheme] of Object.entries(ACCESS_SCHEMES)) {
    if ((written as Readonly<Record<string, unknown>>)[kind] === null || scheme.test(url)) continue;
    faults.push({
      path: ['destinations', name, 'access', kind],
      code: 'CONFIG_INVALID',
      message: `The access "${kind}" does not fit the URL of the destination`,
      hint: 'Write the access of the kind that the URL names.',
    });
  }
}

/** The schema ensures that exactly one of the four forms is present. */
function reference(written: object | null): SecretReference | null {
  return written as SecretReference | null;
}
