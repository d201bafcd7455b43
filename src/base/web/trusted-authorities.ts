/**
 * Certificate authorities to trust: Node's own, and those of the system or what `SSL_CERT_FILE` and `SSL_CERT_DIR` name
 * instead, as for other programs of the machine.
 */
import { readFileSync } from 'node:fs';
import { getCACertificates, setDefaultCACertificates } from 'node:tls';
import { systemClock } from '../clock.ts';
import { causeText } from '../errno-words.ts';
import { processEnvironment } from './process-environment.ts';

let isSettled = false;

/** Sets the authorities for all connections of this thread, once. It must be called before the first connection. */
export function trustSystem(): void {
  if (isSettled) return;
  isSettled = true;
  const known = getCACertificates('default');
  const all = new Set([...known, ...getCACertificates('system')]);
  if (all.size > known.length) setDefaultCACertificates([...all]);
}

export interface TlsTrouble {
  /** Of the server: "its certificate has expired". */
  readonly what: string;
  readonly hint: string;
}

export const NO_CERTIFICATE =
  'Holdfast cannot present one: use an address that does not require it, or a local program that presents it and forwards the connection.';

/** Explains a code of Node or OpenSSL; undefined when it has nothing to do with TLS. */
export function tlsTrouble(code: string): TlsTrouble | undefined {
  if (code === 'CERT_HAS_EXPIRED')
    return {
      what: 'the certificate of the server has expired',
      hint: `Whoever runs the server must renew it. If the clock of this machine is wrong (it says ${today()}), set it. Nothing was sent.`,
    };
  if (code === 'CERT_NOT_YET_VALID')
    return {
      what: 'the certificate of the server is not valid yet',
      hint: `Set the clock of this machine, which says ${today()}. If that is right, ask whoever runs the server. Nothing was sent.`,
    };
  if (code === 'ERR_TLS_CERT_ALTNAME_INVALID' || code === 'HOSTNAME_MISMATCH')
    return {
      what: 'the certificate of the server is for another name',
      hint: 'Check the address. A network that requires you to sign in first can also cause this. Nothing was sent.',
    };
  if (/^(?:CERT_|ERR_TLS_|DEPTH_ZERO_SELF_SIGNED|SELF_SIGNED|UNABLE_TO_(?:VERIFY|GET_ISSUER))/.test(code))
    return {
      what: 'the certificate of the server cannot be trusted',
      hint: `Check the address. If the server, or a proxy that opens encrypted connections, has a certificate of your own authority: add that authority to those of this system, or name the file with its certificate (PEM) in SSL_CERT_FILE${inService()}. ${unreadFiles()}Nothing was sent.`,
    };
  if (code.endsWith('CERTIFICATE_REQUIRED'))
    return { what: 'the server requires a certificate from this machine', hint: NO_CERTIFICATE };
  if (/^(?:ERR_SSL|EPROTO$)/.test(code))
    return {
      what: 'no secure connection is possible: the server uses an old version of TLS, or none',
      hint: 'Check the address and the port. A server that requires a certificate from this machine may also close the connection like this. Nothing was sent.',
    };
  return undefined;
}

function today(): string {
  return new Date(systemClock.now()).toISOString().slice(0, 16).replace('T', ' ').concat(' UTC');
}

function inService(): string {
  return (processEnvironment['INVOCATION_ID'] ?? '') === '' ? '' : ' of the service (docs/service.md)';
}

/** A hint about certificate files that cannot be used, as OpenSSL silently skips missing ones. */
function unreadFiles(): string {
  return ['SSL_CERT_FILE', 'NODE_EXTRA_CA_CERTS']
    .map((name) => {
      const file = processEnvironment[name] ?? '';
      if (file === '') return '';
      try {
        return readFileSync(file).includes('-----BEGIN ')
          ? ''
          : `${name} names ${file}, which is not a PEM file. `;
      } catch (error) {
        return `${name} names ${file}, which cannot be read: ${causeText(error)}.  `;
      }
    })
    .join('');
}
