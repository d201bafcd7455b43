/** Signs an order for a single device. It is valid once, and for an hour at most. */
import type { SigningKey } from '../secrets/keys.ts';
import type { Order } from '../store/orders.ts';
import { seconds, sign } from './signature.ts';

export async function signOrder(order: Order, signing: SigningKey): Promise<string> {
  return await sign(signing, 'holdfast-order+jwt', {
    jti: order.id,
    aud: order.deviceId,
    iat: seconds(order.createdAt),
    exp: seconds(order.expiresAt),
    order: order.kind,
  });
}
