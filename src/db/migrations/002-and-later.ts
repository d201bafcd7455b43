/** The steps after the first tables, in the order in which they are applied. */

/** Jobs of one pass: the same backup to several destinations. */
export const passes = `
ALTER TABLE jobs ADD COLUMN pass TEXT;
CREATE INDEX jobs_by_pass ON jobs (pass, seq) WHERE pass IS NOT NULL;
`;

/**
 * Stores the times of many requests in one row, and reserved places as their number: writing a row for each request
 * held up all others.
 */
export const rateTimes = `
CREATE TABLE rate_times (
  id INTEGER PRIMARY KEY,
  bucket TEXT NOT NULL,
  -- of the times; null in the row that reserves places
  newest INTEGER,
  -- a JSON array of milliseconds since 1970
  times TEXT NOT NULL,
  reserved INTEGER NOT NULL
) STRICT;
INSERT INTO rate_times (bucket, newest, times, reserved)
  SELECT bucket, max(at), json_group_array(at), 0 FROM rate_log WHERE at < 9007199254740991 GROUP BY bucket;
INSERT INTO rate_times (bucket, newest, times, reserved)
  SELECT bucket, NULL, '[]', count(*) FROM rate_log WHERE at = 9007199254740991 GROUP BY bucket;
DROP TABLE rate_log;
CREATE INDEX rate_times_by_bucket ON rate_times (bucket, newest);
`;

/** The data for a Partner service: results of jobs, the report that is being sent, and the orders that were accepted. */
export const partnerReports = `
CREATE TABLE partner_device (
  device_id TEXT PRIMARY KEY,
  -- jobs that ended before are not told
  since INTEGER NOT NULL,
  -- results that were given up
  dropped INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE partner_results (
  id INTEGER PRIMARY KEY,
  job_id TEXT NOT NULL UNIQUE,
  finished_at INTEGER NOT NULL,
  -- as it will be sent, as JSON; null once there is nothing to tell of the job any more
  body TEXT,
  -- 1: it is in the report that is on its way
  sending INTEGER NOT NULL
) STRICT;
CREATE INDEX partner_results_waiting ON partner_results (sending, id) WHERE body IS NOT NULL;

CREATE TABLE partner_report (
  seq INTEGER PRIMARY KEY,
  -- sent again as it is until it is answered
  body TEXT NOT NULL
) STRICT;

CREATE TABLE partner_orders (
  jti TEXT PRIMARY KEY,
  expires_at INTEGER NOT NULL,
  -- 1: the service knows that it was taken
  told INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
`;

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

/** Results of dry runs of restores, as JSON. */
export const restorePreviews = `
CREATE TABLE restore_previews (
  id INTEGER PRIMARY KEY,
  job_id TEXT NOT NULL UNIQUE REFERENCES jobs (id) ON DELETE CASCADE,
  preview TEXT NOT NULL
) STRICT;
`;
