/** Which notifications the browser shows: of an alarm, of a headline that turns bad, and of its end. */
import { useEffect } from 'preact/hooks';
import type { Alarm } from '../api/schemas/page/jobs.ts';
import type { Overview } from '../api/schemas/page/overview.ts';
import { visible } from './components/own-text.tsx';
import { t } from './language/language.ts';
import {
  isOn,
  keepTold,
  type News,
  openAlarms,
  readTold,
  show,
  type Told,
  toldOf,
} from './parts/browser-notices.ts';
import { hrefOf } from './parts/route.ts';
import { plainSentence } from './pages/overview/headline.tsx';
import { OF_ALARMS, todoOf, wayOf } from './pages/overview/remedies.ts';

type Facts = Pick<Overview, 'headline' | 'checks' | 'destinations'>;

/** What the person has not been told yet. */
export function newsOf(overview: Facts, alarms: readonly Alarm[], told: Told): readonly News[] {
  const { level, code } = overview.headline;
  // Such a headline repeats an alarm, which has a notification of its own.
  const isRepeated = alarms.length > 0 && OF_ALARMS.has(code);
  const isTurned = (level === 'bad') !== (told.level === 'bad');
  return [
    ...alarms.filter(({ id }) => !told.alarms.includes(id)).map(newsOfAlarm),
    ...(isTurned && !isRepeated ? [newsOfHeadline(overview)] : []),
  ];
}

function newsOfAlarm({ id, kind, source }: Alarm): News {
  const { title, todo } = t.alarms.kinds[kind];
  return {
    tag: id,
    title: `${title}${t.common.colon} ${visible(source)}`,
    body: todo,
    href: hrefOf(['alarms']),
    kind: 'alarm',
  };
}

function newsOfHeadline(overview: Facts): News {
  const { headline } = overview;
  const todo = todoOf(headline);
  const sentence = plainSentence(overview);
  return {
    // A second one of the same tag would take the place of the first without a sound.
    tag: `${headline.code} ${headline.since ?? ''}`,
    title: 'Holdfast',
    body: todo === '' ? sentence : `${sentence}\n${todo}`,
    href: wayOf(headline)?.href ?? hrefOf([]),
    kind: headline.level === 'bad' ? 'trouble' : 'success',
  };
}

/** Shows what is new whenever the agent has said how things are. */
export function useNotifications(overview: Overview | undefined): void {
  useEffect(() => {
    if (overview === undefined || !isOn()) return;
    const look = async (): Promise<void> => {
      const alarms = await openAlarms(overview);
      // Read last and written at once, as another tab may show the same.
      const told = readTold();
      if (told === undefined) return;
      keepTold(toldOf(overview, alarms));
      for (const news of newsOf(overview, alarms, told)) show(news);
    };
    // Whatever fails here is tried with the next answer of the agent.
    look().catch(() => undefined);
  }, [overview]);
}
