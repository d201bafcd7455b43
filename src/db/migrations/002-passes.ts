/** Jobs of one pass: the same backup to several destinations. */
export const passes = `
ALTER TABLE jobs ADD COLUMN pass TEXT;
CREATE INDEX jobs_by_pass ON jobs (pass, seq) WHERE pass IS NOT NULL;
`;
