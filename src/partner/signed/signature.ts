/** Signs documents as compact JWS with Ed25519. An agent verifies them with the key that it received at enrollment. */
import { SignJWT, type JWTPayload } from 'jose';
import type { SigningKey } from '../secrets/keys.ts';

/** Each kind of document has its own type, so that none can be mistaken for another. */
export type DocumentType = 'holdfast-plan+jwt' | 'holdfast-order+jwt';

export async function sign(
  { privateKey, kid }: SigningKey,
  type: DocumentType,
  claims: JWTPayload,
): Promise<string> {
  return await new SignJWT(claims).setProtectedHeader({ alg: 'EdDSA', typ: type, kid }).sign(privateKey);
}

/** The public key as a JSON Web Key (RFC 8037). */
export function publicJwk({ publicKey, kid }: SigningKey) {
  const { x = '' } = publicKey.export({ format: 'jwk' });
  return { kty: 'OKP' as const, crv: 'Ed25519' as const, x, kid };
}

/** Times of signed documents are whole seconds (RFC 7519). */
export function seconds(ms: number): number {
  return Math.floor(ms / 1000);
}
