/** Schemas of the routes that turn the WebDAV folder of snapshots on and off. */
import { type Static, Type } from '../../../base/schema-type.ts';

export const WebdavState = Type.Object({
  enabled: Type.Boolean(),
  created_at: Type.Union([Type.String(), Type.Null()]),
  /** URL without the secret. */
  address: Type.String(),
});

/** The URL with the secret, and the credentials; shown only once. */
export const WebdavSecret = Type.Object({
  address: Type.String(),
  user: Type.String(),
  password: Type.String(),
});

export const WebdavOff = Type.Object({ enabled: Type.Literal(false) });

export type WebdavState = Static<typeof WebdavState>;
export type WebdavSecret = Static<typeof WebdavSecret>;
