/** A customer has one trial: who leaves it for another plan and comes back finds the end that it had. */
export const oneTrial = (): readonly string[] => [
  'ALTER TABLE customers ADD COLUMN first_trial_ends_at bigint',
  'UPDATE customers SET first_trial_ends_at = trial_ends_at',
];
