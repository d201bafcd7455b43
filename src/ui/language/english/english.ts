/**
 * Every text of the page. A text that depends on a number or name is a function. A translation has the same shape,
 * which the compiler checks. Names of products, commands and settings are not translated.
 */
import { access, account, notifications } from './account.ts';
import { advanced } from './advanced.ts';
import { alarms } from './alarms.ts';
import { app, common } from './everywhere.ts';
import { destinations, encryption } from './destinations.ts';
import { firstRun } from './first-run.ts';
import { jobs } from './jobs.ts';
import { overview } from './overview.ts';
import { parts } from './parts.ts';
import { performance, schedule } from './schedule.ts';
import { problems } from './problems.ts';
import { restore } from './restore.ts';
import { settings } from './settings.ts';
import { sources } from './sources.ts';

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
