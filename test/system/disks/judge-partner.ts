/** What a power cut has left of a Partner service: its store is whole, and every report that it answered is in there, once. */
import { examine } from './databases.ts';
import type { MadePartner } from './make-partner.ts';
import { given, mountDisks, shell, unmountDisks, type DiskFacts } from './mounted-disk.ts';
import { PARTNER_PLACE, PARTNER_STATE, openPartnerDisk } from './partner-disk.ts';

export interface PartnerVerdict {
  readonly violations: readonly string[];
  /** Reports that the store knows. */
  readonly reports: number;
}

export interface JudgedPartner extends DiskFacts {
  readonly made: MadePartner;
  /** The last report of each device that was answered, as the machine has noted it. */
  readonly answered: readonly number[];
}

const facts = given() as JudgedPartner;
const violations: string[] = [];
mountDisks(facts, ['partner']);
shell(`chown -R 0:0 ${PARTNER_STATE}`);
const said = examine(`${PARTNER_PLACE}/partner.sqlite`);
if (said !== '') violations.push(said);
let reports = 0;
{
  await using stores = await openPartnerDisk();
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
unmountDisks(['partner']);
process.stdout.write(JSON.stringify({ violations, reports } satisfies PartnerVerdict));
