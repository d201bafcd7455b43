/**
 * Every text of the page. What differs by number or name is a function. A translation has the same shape, which the
 * compiler checks; names of products, commands and settings stay as they are.
 */
import { access } from './english/access.ts';
import { account } from './english/account.ts';
import { advanced } from './english/advanced.ts';
import { alarms } from './english/alarms.ts';
import { app } from './english/app.ts';
import { common } from './english/everywhere.ts';
import { destinations } from './english/destinations.ts';
import { encryption } from './english/encryption.ts';
import { firstRun } from './english/first-run.ts';
import { jobs } from './english/jobs.ts';
import { notifications } from './english/notifications.ts';
import { overview } from './english/overview.ts';
import { parts } from './english/parts.ts';
import { performance } from './english/performance.ts';
import { problems } from './english/problems.ts';
import { restore } from './english/restore.ts';
import { schedule } from './english/schedule.ts';
import { settings } from './english/settings.ts';
import { sources } from './english/sources.ts';

export const english = {
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

export type Texts = typeof english;
