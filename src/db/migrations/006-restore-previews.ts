/** Results of dry runs of restores, as JSON. */
export const restorePreviews = `
CREATE TABLE restore_previews (
  id INTEGER PRIMARY KEY,
  job_id TEXT NOT NULL UNIQUE REFERENCES jobs (id) ON DELETE CASCADE,
  preview TEXT NOT NULL
) STRICT;
`;
