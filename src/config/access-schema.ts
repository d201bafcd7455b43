/**
 * Schema of a destination's access settings: what is needed in addition to its URL, by kind. Every secret is a
 * reference.
 */
import { Type } from '../base/schema-type.ts';
import { choice, count, flag, object, orNull, secret, textOrNull } from './schema-parts.ts';

const word = (description: string) =>
  orNull(Type.String({ minLength: 1, maxLength: 1_024 }), { description });
const file = (description: string) => textOrNull('absolute-path', description);

/** For each kind of access, the beginning of the URLs that it applies to. */
export const ACCESS_SCHEMES: Readonly<Record<string, RegExp>> = {
  s3: /^s3:/i,
  sftp: /^sftp:/i,
  webdav: /^webdavs?:/i,
  azblob: /^azblob:/i,
  gs: /^gs:/i,
  rclone: /^rclone:/i,
};

export const Access = orNull(
  object(
    {
      s3: orNull(
        object(
          {
            accessKeyId: word(
              'The access key; null to look in the environment, the files of the AWS tools and the role of the machine.',
            ),
            secretAccessKey: secret('Where the secret of the access key is.'),
            sessionToken: secret('Where the session token is, for credentials that expire.'),
            profile: word('A profile of the AWS tools.'),
            storageClass: word(
              'The storage class of packs, such as STANDARD_IA; it must be readable immediately.',
            ),
            serverSideEncryption: choice(
              ['none', 'AES256', 'aws:kms'],
              'How the store encrypts, in addition to Holdfast.',
              'none',
            ),
            kmsKeyId: word('The key for aws:kms; null for the one of the bucket.'),
            objectLockMode: choice(
              ['governance', 'compliance'],
              'The mode of Object Lock, if objectLockDays is set.',
              'governance',
            ),
            objectLockDays: orNull(Type.Integer({ minimum: 1, maximum: 36_500 }), {
              description:
                'For how many days nobody can delete stored data; the bucket must have Object Lock.',
            }),
          },
          {},
        ),
        { description: 'For s3: URLs.' },
      ),
      sftp: orNull(
        object(
          {
            keyFile: file('The private key; null for the agent and the keys of the user’s own ssh.'),
            keyPassphrase: secret('Where the passphrase of the private key is.'),
            password: secret('Where the password is.'),
            hostKeyFile: file(
              'The keys of the server, as in known_hosts; null for the known_hosts of the user.',
            ),
            appendOnly: flag(
              'The account can only add files: they are made read-only, and nothing is removed.',
              false,
            ),
            connections: count('The most connections at once.', {
              default: 4,
              minimum: 1,
              maximum: 32,
            }),
          },
          {},
        ),
        { description: 'For sftp: URLs.' },
      ),
      webdav: orNull(
        object(
          {
            user: word('The name to sign in with; null for the one in the URL.'),
            password: secret('Where the password is.'),
            token: secret('Where the access token is, in place of name and password.'),
            caFile: file('Certificates (PEM) to trust in addition to those of the system.'),
          },
          {},
        ),
        { description: 'For webdavs: URLs.' },
      ),
      azblob: orNull(
        object(
          {
            accountKey: secret('Where the key of the account is.'),
            sasToken: secret('Where a shared access signature for the container is.'),
          },
          {},
        ),
        { description: 'For azblob: URLs.' },
      ),
      gs: orNull(
        object(
          {
            credentials: secret(
              'Where the JSON key of a service account is; null for the default credentials of the machine.',
            ),
            storageClass: word('The storage class of packs, such as NEARLINE.'),
          },
          {},
        ),
        { description: 'For gs: URLs.' },
      ),
      rclone: orNull(
        object(
          {
            program: file('The program; null for the one on the path.'),
            configFile: file('The configuration of rclone; null for the one of the user.'),
            configPassword: secret('Where the password of that configuration is, if it is encrypted.'),
          },
          {},
        ),
        { description: 'For rclone: remotes.' },
      ),
    },
    {},
  ),
  { description: 'How to sign in to the destination, by its kind; null to use the environment.' },
);
