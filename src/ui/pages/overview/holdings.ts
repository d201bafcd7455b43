import type { Overview } from '../../../api/schemas/page/overview.ts';
import { formatBytes, formatCount, formatPercent } from '../../language/format.ts';
import { t } from '../../language/language.ts';
import { damagedSources } from './remedies.ts';
import { isAllRead, protectedIn, savedShare, storedIn } from './figures.ts';

type HoldingsOverview = Pick<Overview, 'headline' | 'others' | 'sources' | 'saved' | 'destinations'>;

/** What the backups hold and take, in one line. */
export function holdingsOf(overview: HoldingsOverview): string {
  const { sources, saved, destinations, headline } = overview;
  const { files, bytes } = protectedIn(sources);
  if (files === 0) return '';
  const texts = t.overview.holdings;
  // Below “Not protected” the same files are only what the last backups have.
  const lastFiles = damagedSources(overview).size > 0 ? texts.afterDamage : texts.lastFiles;
  const filesOf = headline.level === 'bad' ? lastFiles : texts.files;
  const share = savedShare(overview);
  const places = isAllRead(overview) && destinations.length > 1 ? texts.places(destinations.length) : '';
  return [
    filesOf(files, formatCount(files), formatBytes(bytes)),
    ...(saved.snapshots === 0
      ? []
      : [
          texts.snapshots(
            saved.snapshots,
            formatCount(saved.snapshots),
            formatBytes(storedIn(destinations)),
            places,
          ),
        ]),
    ...(share === undefined ? [] : [texts.share(formatPercent(share))]),
  ].join(' ');
}
