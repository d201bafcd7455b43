/** What a power cut has left of a Partner service: its store is whole, and every report that it answered is in there, once. */
import { cpSync, existsSync, mkdirSync } from 'node:fs';
import path from 'node:path';
import Sqlite from 'better-sqlite3';
import type { MadePartnerDisk } from './make-partner-disk.ts';
import { given, mountDisk, shell, unmountDisk, type DiskFacts } from './mounted-disk.ts';
import { openPartnerDisk } from './partner-disk.ts';

export interface PartnerVerdict {
  readonly violations: readonly string[];
  /** Reports that the store knows. */
  readonly reports: number;
}

export interface JudgedPartner extends DiskFacts {
  readonly made: MadePartnerDisk;
  /** The last report of each device that was answered, as the machine has noted it. */
  readonly answered: readonly number[];
}

const facts = given() as JudgedPartner;
const violations: string[] = [];
const mount = mountDisk(facts);
shell(`chown -R 0:0 ${mount}/state`);
mkdirSync('/mnt/databases');
for (const ending of ['', '-wal', '-shm']) {
  const from = path.join(mount, 'state', 'partner', `partner.sqlite${ending}`);
  if (existsSync(from)) cpSync(from, `/mnt/databases/partner.sqlite${ending}`);
}
const database = new Sqlite('/mnt/databases/partner.sqlite');
const said = JSON.stringify(database.pragma('integrity_check'));
if (said !== '[{"integrity_check":"ok"}]') violations.push(said.slice(0, 500));
database.close();
let reports = 0;
{
  await using stores = await openPartnerDisk(mount);
  for (const [number, key] of facts.made.devices.entries()) {
    const known = (await stores.devices.verify(key))?.device.reportSeq ?? -1;
    const answered = facts.answered[number] ?? 0;
    // The one that was on its way may be in there without an answer.
    if (known < answered || known > answered + 1)
      violations.push(`device ${number}: ${answered} reports were answered, and the store knows ${known}`);
    reports += Math.max(0, known);
  }
  const day = (ago: number): string => new Date(Date.now() - ago * 86_400_000).toISOString().slice(0, 10);
  const range = { from: day(2), to: day(-1), granularity: 'day' } as const;
  const { totals } = await stores.usage.usage(facts.made.partnerId, range);
  // Each report told of one backup.
  if (totals.backupsCompleted !== reports)
    violations.push(`${reports} reports, and ${totals.backupsCompleted} backups counted`);
}
unmountDisk(mount);
process.stdout.write(JSON.stringify({ violations, reports } satisfies PartnerVerdict));
