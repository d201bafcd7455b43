/**
 * Loaded before a program (`node --import`): all that it does happens MOVED_CLOCK_DAYS days ago. What a demonstration shows
 * of the last weeks was then made by the program itself.
 */
const DAY_MS = 86_400_000;
const now = Date.now.bind(Date);
const moved = Number(process.env['MOVED_CLOCK_DAYS'] ?? 0) * DAY_MS;

Date.now = () => Math.trunc(now() - moved);
