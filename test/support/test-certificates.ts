/** Certificates of a test: an authority, and servers that it vouches for, or not any more, or under another name. */
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { runCommand } from '../servers/run-command.ts';

export interface KeyAndCertificate {
  readonly key: string;
  readonly cert: string;
}

export interface TestCertificates {
  /** PEM of the authority. */
  readonly authority: string;
  /** For 127.0.0.1. */
  readonly good: KeyAndCertificate;
  readonly expired: KeyAndCertificate;
  readonly otherHost: KeyAndCertificate;
  /** Of an authority that nobody knows. */
  readonly unknownAuthority: KeyAndCertificate;
  readonly selfSigned: KeyAndCertificate;
}

const NEW_KEY = '-newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes'.split(' ');

export async function makeCertificates(): Promise<TestCertificates> {
  const directory = await mkdtemp(join(tmpdir(), 'holdfast-certificates-'));
  const at = (name: string): string => join(directory, name);
  const openssl = async (words: string): Promise<unknown> =>
    await runCommand(
      'openssl',
      words.split(' ').flatMap((word) => (word === 'NEW_KEY' ? NEW_KEY : [word])),
      {
        cwd: directory,
      },
    );
  const pair = async (name: string): Promise<KeyAndCertificate> => ({
    key: await readFile(at(`${name}.key`), 'utf8'),
    cert: await readFile(at(`${name}.pem`), 'utf8'),
  });
  const sign = async (
    name: string,
    { authority = 'ca', days = 2, names = 'IP:127.0.0.1,DNS:localhost' } = {},
  ): Promise<KeyAndCertificate> => {
    await writeFile(at(`${name}.ext`), `subjectAltName=${names}\n`);
    await openssl(`req -new NEW_KEY -subj /CN=${name} -keyout ${name}.key -out ${name}.csr`);
    await openssl(
      `x509 -req -in ${name}.csr -CA ${authority}.pem -CAkey ${authority}.key -CAcreateserial -days ${days} -extfile ${name}.ext -out ${name}.pem`,
    );
    return await pair(name);
  };
  try {
    for (const name of ['ca', 'stranger'])
      await openssl(`req -x509 NEW_KEY -days 2 -subj /CN=${name} -keyout ${name}.key -out ${name}.pem`);
    await openssl(
      'req -x509 NEW_KEY -days 2 -subj /CN=self -addext subjectAltName=IP:127.0.0.1 -keyout self.key -out self.pem',
    );
    return {
      authority: (await pair('ca')).cert,
      good: await sign('good'),
      expired: await sign('expired', { days: -1 }),
      otherHost: await sign('other', { names: 'DNS:other.example' }),
      unknownAuthority: await sign('unknown', { authority: 'stranger' }),
      selfSigned: await pair('self'),
    };
  } finally {
    await rm(directory, { recursive: true });
  }
}
