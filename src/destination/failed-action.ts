/**
 * How the message of a failed call begins. Which object could not be stored means nothing to people, as the failure is
 * that of the place; which one cannot be read tells what is damaged. Details have the object in both cases.
 *
 * @param op the call as a verb: "store", "read"
 * @param place the directory or URL of the destination
 */
export function cannot(op: string, place: string, key: string | undefined): string {
  if (op === 'store') return `Cannot write to ${place}`;
  return `Cannot ${op} ${key === undefined || key === '' ? place : `${key} in ${place}`}`;
}
