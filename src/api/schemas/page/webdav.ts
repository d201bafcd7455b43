/** Snapshots as a folder, as the page turns it on and off. */
import { type Static, Type } from '../../../base/schema-type.ts';

export const WebdavState = Type.Object({
  enabled: Type.Boolean(),
  created_at: Type.Union([Type.String(), Type.Null()]),
  /** Without the secret. */
  address: Type.String(),
});

/** Shown once. */
export const WebdavSecret = Type.Object({
  address: Type.String(),
  user: Type.String(),
  password: Type.String(),
});

export const WebdavOff = Type.Object({ enabled: Type.Literal(false) });

export type WebdavState = Static<typeof WebdavState>;
export type WebdavSecret = Static<typeof WebdavSecret>;
