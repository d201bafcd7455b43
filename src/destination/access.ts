import type { AzurePlace } from './location.ts';

/**
 * What is needed to reach a destination in addition to its URL. Secrets are already looked up and kept in memory only:
 * this is plain data that can be handed to the process of a job, and is never stored, logged or part of an error.
 */
export interface DestinationAccess {
  readonly s3?: S3Access | undefined;
  readonly sftp?: SftpAccess | undefined;
  readonly webdav?: WebdavAccess | undefined;
  readonly azblob?: AzureAccess | undefined;
  readonly gs?: GoogleAccess | undefined;
  readonly rclone?: RcloneAccess | undefined;
}

export interface S3Access {
  /**
   * Without it credentials come from the environment, then the files of the AWS tools, then the role of the machine.
   */
  readonly accessKeyId?: string | undefined;
  readonly secretAccessKey?: string | undefined;
  readonly sessionToken?: string | undefined;
  /** A profile of the AWS tools. */
  readonly profile?: string | undefined;
  /**
   * Storage class of packs, such as `STANDARD_IA` or `INTELLIGENT_TIERING`. All other objects are small and read often,
   * and get none.
   */
  readonly storageClass?: string | undefined;
  readonly serverSideEncryption?: 'AES256' | 'aws:kms' | undefined;
  readonly kmsKeyId?: string | undefined;
  /** How long nobody can remove what is stored; the bucket must have Object Lock. */
  readonly objectLock?: { readonly mode: 'governance' | 'compliance'; readonly days: number } | undefined;
}

export interface SftpAccess {
  /** Absolute path of a private key. */
  readonly keyFile?: string | undefined;
  readonly keyPassphrase?: string | undefined;
  readonly password?: string | undefined;
  /** Absolute path of a known_hosts file or of a public key of the host. */
  readonly hostKeyFile?: string | undefined;
  /** The account may create files but not change or remove them: files are made read-only, and nothing is removed. */
  readonly appendOnly?: boolean | undefined;
  /** The most connections at once; 4 by default. */
  readonly connections?: number | undefined;
}

export interface WebdavAccess {
  readonly user?: string | undefined;
  readonly password?: string | undefined;
  /** For `Authorization: Bearer`. */
  readonly token?: string | undefined;
  /** Absolute path of certificates (PEM) to trust in addition to those of the system. */
  readonly caFile?: string | undefined;
}

export interface AzureAccess {
  /** Base64, as Azure shows it. */
  readonly accountKey?: string | undefined;
  /** A shared access signature: `sv=…&sig=…`. */
  readonly sasToken?: string | undefined;
}

export interface GoogleAccess {
  /** The JSON key of a service account, as text. Without it: the default credentials of this machine. */
  readonly credentials?: string | undefined;
  readonly storageClass?: string | undefined;
}

export interface RcloneAccess {
  /** Absolute path of the program; without it rclone is looked for on the `PATH`. */
  readonly program?: string | undefined;
  /** Absolute path of rclone's configuration. */
  readonly configFile?: string | undefined;
  /** The password that the configuration is encrypted with. */
  readonly configPassword?: string | undefined;
}

type Environment = Readonly<Record<string, string | undefined>>;

/**
 * Which Azure account to use and which credentials: those of the settings, otherwise those of the environment. Fills in
 * from the environment what the URL and the settings leave open. The variables are those of Azure's own tools.
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
