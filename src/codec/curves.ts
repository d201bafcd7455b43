import {
  createPrivateKey,
  createPublicKey,
  diffieHellman,
  generateKeyPairSync,
  sign,
  verify,
  type KeyObject,
} from 'node:crypto';

/** Raw 32-byte keys in the DER wrapping that node:crypto takes (RFC 8410). */
const PRIVATE = {
  x25519: '302e020100300506032b656e04220420',
  ed25519: '302e020100300506032b657004220420',
} as const;
const PUBLIC = { x25519: '302a300506032b656e032100', ed25519: '302a300506032b6570032100' } as const;
type Curve = keyof typeof PRIVATE;

function privateKey(curve: Curve, raw: Uint8Array): KeyObject {
  return createPrivateKey({
    key: Buffer.concat([Buffer.from(PRIVATE[curve], 'hex'), raw]),
    format: 'der',
    type: 'pkcs8',
  });
}

function publicKey(curve: Curve, raw: Uint8Array): KeyObject {
  return createPublicKey({
    key: Buffer.concat([Buffer.from(PUBLIC[curve], 'hex'), raw]),
    format: 'der',
    type: 'spki',
  });
}

export interface RawKeyPair {
  readonly private: Buffer;
  readonly public: Buffer;
}

export function generateKeys(curve: Curve): RawKeyPair {
  const pair = curve === 'x25519' ? generateKeyPairSync('x25519') : generateKeyPairSync('ed25519');
  return {
    private: pair.privateKey.export({ format: 'der', type: 'pkcs8' }).subarray(-32),
    public: pair.publicKey.export({ format: 'der', type: 'spki' }).subarray(-32),
  };
}

/** The public key of a private one. */
export function publicKeyOf(curve: Curve, rawPrivate: Uint8Array): Buffer {
  return createPublicKey(privateKey(curve, rawPrivate)).export({ format: 'der', type: 'spki' }).subarray(-32);
}

/** X25519 shared secret. */
export function agree(ownPrivate: Uint8Array, otherPublic: Uint8Array): Buffer {
  return diffieHellman({
    privateKey: privateKey('x25519', ownPrivate),
    publicKey: publicKey('x25519', otherPublic),
  });
}

export function signEd25519(seed: Uint8Array, message: Uint8Array): Buffer {
  return sign(null, message, privateKey('ed25519', seed));
}

export function verifyEd25519(rawPublic: Uint8Array, message: Uint8Array, signature: Uint8Array): boolean {
  return verify(null, message, publicKey('ed25519', rawPublic), signature);
}
