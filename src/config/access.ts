/** Looks up the secrets of a destination's access, at the moment when it is opened. */
import { resolveSecret, type SecretContext } from './secret.ts';
import type { AccessSettings, SecretReference } from './settings.ts';

type Known = string | undefined;

/** Plain data that is passed to the process of a job. It is never stored, logged or part of an error. */
export interface ResolvedAccess {
  readonly s3?: {
    readonly accessKeyId: Known;
    readonly secretAccessKey: Known;
    readonly sessionToken: Known;
    readonly profile: Known;
    readonly storageClass: Known;
    readonly serverSideEncryption: 'AES256' | 'aws:kms' | undefined;
    readonly kmsKeyId: Known;
    readonly objectLock: { readonly mode: 'governance' | 'compliance'; readonly days: number } | undefined;
  };
  readonly sftp?: {
    readonly keyFile: Known;
    readonly keyPassphrase: Known;
    readonly password: Known;
    readonly hostKeyFile: Known;
    readonly appendOnly: boolean;
    readonly connections: number;
  };
  readonly webdav?: {
    readonly user: Known;
    readonly password: Known;
    readonly token: Known;
    readonly caFile: Known;
  };
  readonly azblob?: { readonly accountKey: Known; readonly sasToken: Known };
  readonly gs?: { readonly credentials: Known; readonly storageClass: Known };
  readonly rclone?: { readonly program: Known; readonly configFile: Known; readonly configPassword: Known };
}

/** @throws {ConfigError} SECRET_UNAVAILABLE, SECRET_UNSAFE */
export async function resolveAccess(
  access: AccessSettings | null | undefined,
  context: SecretContext,
  signal: AbortSignal,
): Promise<ResolvedAccess> {
  const { s3, sftp, webdav, azblob, gs, rclone } = access ?? {};
  const look = async (reference: SecretReference | null): Promise<Known> =>
    reference === null ? undefined : (await resolveSecret(reference, context, signal)).reveal();
  return {
    ...(s3 && {
      s3: {
        accessKeyId: s3.accessKeyId ?? undefined,
        secretAccessKey: await look(s3.secretAccessKey),
        sessionToken: await look(s3.sessionToken),
        profile: s3.profile ?? undefined,
        storageClass: s3.storageClass ?? undefined,
        serverSideEncryption: s3.serverSideEncryption === 'none' ? undefined : s3.serverSideEncryption,
        kmsKeyId: s3.kmsKeyId ?? undefined,
        objectLock: s3.objectLock ?? undefined,
      },
    }),
    ...(sftp && {
      sftp: {
        keyFile: sftp.keyFile ?? undefined,
        keyPassphrase: await look(sftp.keyPassphrase),
        password: await look(sftp.password),
        hostKeyFile: sftp.hostKeyFile ?? undefined,
        appendOnly: sftp.appendOnly,
        connections: sftp.connections,
      },
    }),
    ...(webdav && {
      webdav: {
        user: webdav.user ?? undefined,
        password: await look(webdav.password),
        token: await look(webdav.token),
        caFile: webdav.caFile ?? undefined,
      },
    }),
    ...(azblob && {
      azblob: { accountKey: await look(azblob.accountKey), sasToken: await look(azblob.sasToken) },
    }),
    ...(gs && {
      gs: { credentials: await look(gs.credentials), storageClass: gs.storageClass ?? undefined },
    }),
    ...(rclone && {
      rclone: {
        program: rclone.program ?? undefined,
        configFile: rclone.configFile ?? undefined,
        configPassword: await look(rclone.configPassword),
      },
    }),
  };
}

/** The secret references in a destination's access settings. */
export function accessSecrets(access: AccessSettings | null | undefined): readonly SecretReference[] {
  const { s3, sftp, webdav, azblob, gs, rclone } = access ?? {};
  const all = [
    s3?.secretAccessKey,
    s3?.sessionToken,
    sftp?.keyPassphrase,
    sftp?.password,
    webdav?.password,
    webdav?.token,
    azblob?.accountKey,
    azblob?.sasToken,
    gs?.credentials,
    rclone?.configPassword,
  ];
  return all.filter((one): one is SecretReference => one !== null && one !== undefined);
}
