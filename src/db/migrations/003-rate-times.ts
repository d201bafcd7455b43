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
