/** A customer has one trial: one who leaves it for another plan and comes back keeps the original end. */
export const oneTrial = (): readonly string[] => [
  'ALTER TABLE customers ADD COLUMN first_trial_ends_at bigint',
  'UPDATE customers SET first_trial_ends_at = trial_ends_at',
];
