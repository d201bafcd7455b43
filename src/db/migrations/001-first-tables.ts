export const firstTables = `
CREATE TABLE jobs (
  seq INTEGER PRIMARY KEY AUTOINCREMENT,
  id TEXT NOT NULL UNIQUE,
  type TEXT NOT NULL,
  status TEXT NOT NULL,
  source TEXT,
  destination TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  finished_at INTEGER,
  -- what is never searched for, as JSON
  detail TEXT NOT NULL,
  bookkeeping TEXT NOT NULL
) STRICT;
CREATE INDEX jobs_by_status ON jobs (status, seq);
CREATE INDEX jobs_by_source ON jobs (source, seq) WHERE source IS NOT NULL;
CREATE INDEX jobs_by_creation ON jobs (created_at);
CREATE INDEX jobs_by_end ON jobs (finished_at) WHERE finished_at IS NOT NULL;

CREATE TABLE job_problems (
  id INTEGER PRIMARY KEY,
  job_id TEXT NOT NULL REFERENCES jobs (id) ON DELETE CASCADE,
  path TEXT NOT NULL,
  code TEXT NOT NULL,
  message TEXT NOT NULL
) STRICT;
CREATE INDEX job_problems_by_job ON job_problems (job_id, id);

CREATE TABLE job_log (
  id INTEGER PRIMARY KEY,
  job_id TEXT NOT NULL REFERENCES jobs (id) ON DELETE CASCADE,
  at INTEGER NOT NULL,
  level TEXT NOT NULL,
  text TEXT NOT NULL
) STRICT;
CREATE INDEX job_log_by_job ON job_log (job_id, id);

CREATE TABLE events (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  kind TEXT NOT NULL,
  job_id TEXT,
  at INTEGER NOT NULL,
  -- 1: the next one of the same job takes its place
  passing INTEGER NOT NULL,
  data TEXT NOT NULL
) STRICT;
CREATE INDEX events_by_job ON events (job_id, id) WHERE job_id IS NOT NULL;
CREATE INDEX events_by_time ON events (at);

CREATE TABLE schedules (
  key TEXT PRIMARY KEY,
  last_run INTEGER,
  next_run INTEGER
) STRICT, WITHOUT ROWID;

CREATE TABLE credentials (
  api_key TEXT PRIMARY KEY,
  name TEXT NOT NULL,
  secret_hash BLOB NOT NULL,
  generation INTEGER NOT NULL,
  created_at INTEGER NOT NULL,
  last_used_at INTEGER,
  revoked_at INTEGER
) STRICT;

CREATE TABLE rate_log (
  id INTEGER PRIMARY KEY,
  bucket TEXT NOT NULL,
  at INTEGER NOT NULL
) STRICT;
CREATE INDEX rate_log_by_bucket ON rate_log (bucket, at);

CREATE TABLE idempotency (
  key TEXT NOT NULL,
  route TEXT NOT NULL,
  caller TEXT NOT NULL,
  request_hash TEXT NOT NULL,
  begun_at INTEGER NOT NULL,
  -- null while the request runs
  status INTEGER,
  headers TEXT,
  body TEXT,
  PRIMARY KEY (key, route, caller)
) STRICT, WITHOUT ROWID;

CREATE TABLE settings (
  key TEXT PRIMARY KEY,
  value TEXT NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE repositories (
  url TEXT PRIMARY KEY,
  repository_id TEXT NOT NULL,
  since INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
`;
