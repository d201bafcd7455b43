/**
 * Reads the test receivers, which may be on loopback and have a certificate of a test authority. They are configured
 * when the service starts (`webhooks.testTargets`), never through the API.
 */
import { X509Certificate } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { looseText } from '../../base/people-text.ts';
import { ConfigError } from '../../config/config-error.ts';

export interface TestTarget {
  /** Formatted like `URL.hostname`: lower case, IPv6 in brackets. */
  readonly host: string;
  readonly port: number;
  /** PEM of the authority. */
  readonly authority: string;
}

export interface TestTargetSetting {
  /** `host:port`, exactly as in the URLs; the port is required, even 443. */
  readonly target: string;
  /** File with the PEM of the authority that signed the receiver's certificate. */
  readonly caFile: string;
}

/** @throws {ConfigError} */
export async function readTestTargets(
  settings: readonly TestTargetSetting[],
): Promise<readonly TestTarget[]> {
  return await Promise.all(settings.map(readTestTarget));
}

async function readTestTarget({ target, caFile }: TestTargetSetting): Promise<TestTarget> {
  const url = /^[^\s/?#@\\]+:\d{1,5}$/.test(target) ? URL.parse(`https://${target}/`) : null;
  if (url === null) {
    throw invalid(`'${target}' is not a host and port`, 'Write them as localhost:8443 or [::1]:8443.');
  }
  return {
    host: url.hostname,
    port: url.port === '' ? 443 : Number(url.port),
    authority: await readAuthority(caFile),
  };
}

async function readAuthority(caFile: string): Promise<string> {
  try {
    const authority = looseText(await readFile(caFile));
    // TLS ignores text that is not a certificate, and would then trust nobody.
    requireCertificate(authority);
    return authority;
  } catch (error) {
    throw invalid(
      'the certificate of a test receiver’s authority cannot be read',
      'Give a file in PEM form that the service can read.',
      error,
    );
  }
}

/** @throws {Error} when the first certificate of the text cannot be read, or there is none */
function requireCertificate(pem: string): X509Certificate {
  return new X509Certificate(pem);
}

function invalid(message: string, hint: string, cause?: unknown): ConfigError {
  return new ConfigError('CONFIG_INVALID', `webhooks.testTargets: ${message}`, { hint, cause });
}
