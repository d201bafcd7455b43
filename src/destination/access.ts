/**
 * What a destination is reached with, beside its URL: secrets already looked up, in memory only. Plain data, so that
 * it can be handed to the process of a job; never stored, logged or part of an error.
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
  /** Without it: the environment, the files of the AWS tools, the role of the machine, in this order. */
  readonly accessKeyId?: string | undefined;
  readonly secretAccessKey?: string | undefined;
  readonly sessionToken?: string | undefined;
  /** A profile of the AWS tools. */
  readonly profile?: string | undefined;
  /** `STANDARD_IA`, `INTELLIGENT_TIERING`, … of packs alone: everything else is small and read often. */
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
  /** The account may create and not change or remove: files are made read-only, and nothing is removed. */
  readonly appendOnly?: boolean | undefined;
  /** At most so many connections at once; 4 by default. */
  readonly connections?: number | undefined;
}

export interface WebdavAccess {
  readonly user?: string | undefined;
  readonly password?: string | undefined;
  /** For `Authorization: Bearer`. */
  readonly token?: string | undefined;
  /** Absolute path of certificates (PEM) to trust beside those of the system. */
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
  /** Absolute path of the program; without it the one on the path. */
  readonly program?: string | undefined;
  /** Absolute path of rclone's configuration. */
  readonly configFile?: string | undefined;
  /** What that configuration is encrypted with. */
  readonly configPassword?: string | undefined;
}
