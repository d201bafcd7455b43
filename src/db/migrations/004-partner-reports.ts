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
