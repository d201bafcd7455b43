/** Alle Texte der Seite auf Deutsch. */
import type { Texts } from './english.ts';
import { access } from './german/access.ts';
import { account } from './german/account.ts';
import { advanced } from './german/advanced.ts';
import { alarms } from './german/alarms.ts';
import { app } from './german/app.ts';
import { common } from './german/everywhere.ts';
import { destinations } from './german/destinations.ts';
import { encryption } from './german/encryption.ts';
import { firstRun } from './german/first-run.ts';
import { jobs } from './german/jobs.ts';
import { notifications } from './german/notifications.ts';
import { overview } from './german/overview.ts';
import { parts } from './german/parts.ts';
import { performance } from './german/performance.ts';
import { problems } from './german/problems.ts';
import { restore } from './german/restore.ts';
import { schedule } from './german/schedule.ts';
import { settings } from './german/settings.ts';
import { sources } from './german/sources.ts';

export const german: Texts = {
  common,
  app,
  firstRun,
  parts,
  overview,
  restore,
  jobs,
  alarms,
  settings,
  sources,
  destinations,
  schedule,
  performance,
  notifications,
  encryption,
  access,
  account,
  advanced,
  problems,
};
