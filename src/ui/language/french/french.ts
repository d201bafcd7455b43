/** Every text of the page in French. */
import type { Texts } from '../english/english.ts';
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

export const french: Texts = {
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
