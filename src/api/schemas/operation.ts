/** Schemas of checks, prunes, drills and the pause. */
import { type Static, Type } from '../../base/schema-type.ts';
import { JOB_FIELDS } from './job.ts';
import { Count, MaybeTime, TimeInput } from './values.ts';

const DestinationInput = Type.String({ minLength: 1, maxLength: 4096 });

export const CheckRequest = Type.Object(
  {
    destination: Type.Optional(DestinationInput),
    read_data: Type.Optional(Type.Number({ minimum: 0, maximum: 1 })),
  },
  { additionalProperties: false },
);

export const PruneRequest = Type.Object(
  {
    destination: Type.Optional(DestinationInput),
    apply_retention: Type.Boolean({ default: false }),
  },
  { additionalProperties: false },
);

export const Check = Type.Object({ ...JOB_FIELDS, type: Type.Literal('check'), read_data: Type.Number() });
export type Check = Static<typeof Check>;

export const Prune = Type.Object({
  ...JOB_FIELDS,
  type: Type.Literal('prune'),
  apply_retention: Type.Boolean(),
});
export type Prune = Static<typeof Prune>;

/** The Desktop API has no route that starts drills, but its events report them. */
export const Drill = Type.Object({ ...JOB_FIELDS, type: Type.Literal('drill'), files: Count });
export type Drill = Static<typeof Drill>;

/** A year in seconds: the longest pause with an end. */
export const LONGEST_PAUSE = 31_536_000;

export const PauseRequest = Type.Object(
  {
    until: Type.Optional(TimeInput),
    for: Type.Optional(
      Type.Union([
        Type.Integer({ minimum: 1, maximum: LONGEST_PAUSE }),
        Type.String({ minLength: 2, maxLength: 32 }),
      ]),
    ),
    interrupt: Type.Optional(Type.Boolean({ default: false })),
  },
  { additionalProperties: false },
);
export type PauseRequest = Static<typeof PauseRequest>;

export const PauseState = Type.Object({ paused: Type.Boolean(), paused_until: MaybeTime });
