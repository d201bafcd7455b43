/**
 * The pages that are fetched when the first of them is opened. They are one script, which compresses to half the size
 * of separate ones.
 */
export { AlarmsPage } from './alarms/alarms-page.tsx';
export { JobsPage } from './jobs/jobs-page.tsx';
export { RestorePage } from './restore/restore-page.tsx';
export { SettingsPage } from './settings/settings-page.tsx';
