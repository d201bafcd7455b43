/** The history that the page shows: the last runs of each source, and the amount stored on each day. */
export const runsAndAmounts = `
CREATE INDEX jobs_by_run ON jobs (type, destination, source, finished_at) WHERE finished_at IS NOT NULL;

CREATE TABLE stored_bytes (
  destination TEXT NOT NULL,
  -- days since 1970, in UTC
  day INTEGER NOT NULL,
  at INTEGER NOT NULL,
  bytes INTEGER NOT NULL,
  PRIMARY KEY (destination, day)
) STRICT, WITHOUT ROWID;
`;
