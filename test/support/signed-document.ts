/** Reads what the Partner service signed: with the key that an enrollment gave, without the library that signed it. */
import { createPublicKey, verify, type JsonWebKey } from 'node:crypto';
import { partnerFaultsOf } from './partner-judge.ts';

export type Claims = Readonly<Record<string, unknown>>;

const SCHEMAS = { 'holdfast-plan+jwt': 'PlanDocument', 'holdfast-order+jwt': 'Order' } as const;

/** @throws {Error} when the signature, the header or the claims are not as docs/api/partner.yaml says */
export function readSigned(document: unknown, key: unknown, type: keyof typeof SCHEMAS): Claims {
  const [head = '', body = '', signature = ''] = String(document).split('.');
  const publicKey = createPublicKey({ key: key as JsonWebKey, format: 'jwk' });
  if (!verify(null, Buffer.from(`${head}.${body}`), publicKey, Buffer.from(signature, 'base64url')))
    throw new Error('the signature is wrong');
  const expected = { alg: 'EdDSA', typ: type, kid: (key as { readonly kid: string }).kid };
  if (JSON.stringify(read(head)) !== JSON.stringify(expected))
    throw new Error(`the header is ${JSON.stringify(read(head))}`);
  const faults = partnerFaultsOf({ $ref: `#/components/schemas/${SCHEMAS[type]}` }, read(body));
  if (faults.length > 0) throw new Error(faults.join('; '));
  return read(body);
}

function read(part: string): Claims {
  return JSON.parse(Buffer.from(part, 'base64url').toString()) as Claims;
}
