/** Shows alarms about sources that look damaged: what happened, what is kept, what to do. */
import type { ComponentChildren, JSX } from 'preact';
import { useState } from 'preact/hooks';
import { holdfast } from '../../agent/program.ts';
import type { Alarm, Alarms } from '../../../api/schemas/page/jobs.ts';
import { ask } from '../../agent/ask.ts';
import { useEvents } from '../../agent/events.ts';
import { useOverviewAgain } from '../../agent/overview.ts';
import { useAction, useAsked } from '../../agent/use-asked.ts';
import { AskFirst, Button } from '../../components/button.tsx';
import { Card, Empty, PageHead } from '../../components/card.tsx';
import { Command } from '../../components/command.tsx';
import { Own, Path } from '../../components/own-text.tsx';
import { Problem } from '../../components/problem.tsx';
import { Facts } from '../../components/table.tsx';
import { Notice, Tag } from '../../components/tag.tsx';
import { formatAge, formatCount, formatTime } from '../../language/format.ts';
import { t } from '../../language/language.ts';
import type { Route } from '../../parts/route.ts';
import { AlarmSnapshots } from './alarm-snapshots.tsx';

export function AlarmsPage({ route: _route }: { readonly route: Route }): JSX.Element {
  const overviewAgain = useOverviewAgain();
  const asked = useAsked((signal) => ask<Alarms>('GET', '/alarms', { signal }), []);
  const [isAcknowledged, setAcknowledged] = useState(false);
  useEvents(({ kind }) => {
    if (kind === 'alarm') asked.again();
  });
  const acknowledge = useAction(async () => {
    await ask('POST', '/alarms/acknowledge');
    setAcknowledged(true);
    asked.again();
    overviewAgain();
  });
  const alarms = asked.data?.items ?? [];
  return (
    <>
      <PageHead title={t.alarms.title}>{alarms.length === 0 ? undefined : t.alarms.what}</PageHead>
      <Problem error={asked.problem ?? acknowledge.problem} />
      {isAcknowledged && alarms.length === 0 ? (
        <Notice look="good">
          <p>{t.alarms.acknowledged}</p>
        </Notice>
      ) : null}
      {asked.data === undefined && asked.isBusy ? <p class="quiet">{t.common.loading}</p> : null}
      {asked.data?.items.length === 0 ? (
        <Card label={t.alarms.title}>
          <Empty>
            <p>{t.alarms.none}</p>
          </Empty>
        </Card>
      ) : null}
      {alarms.map((alarm) => (
        <AlarmCard key={alarm.id} alarm={alarm} />
      ))}
      {alarms.length === 0 ? null : (
        <AskFirst
          label={t.alarms.acknowledge(alarms.length)}
          question={
            <>
              {t.alarms.acknowledgeQuestion}
              {alarms.some(({ kind }) => kind === 'empty') ? ` ${t.alarms.acknowledgeEmpty}` : null}
            </>
          }
        >
          <Button type="button" disabled={acknowledge.isBusy} onClick={() => void acknowledge.run()}>
            {t.alarms.acknowledgeDo}
          </Button>
        </AskFirst>
      )}
      <Command
        lines={alarms.length === 0 ? [holdfast`alarms`] : [holdfast`alarms`, holdfast`alarms --acknowledge`]}
      />
    </>
  );
}

/** The fact of an alarm about an empty source that says that it has files again. */
const FILLED = 'filled_since';

function AlarmCard({ alarm }: { readonly alarm: Alarm }): JSX.Element {
  const { kind, source, at, text, facts } = alarm;
  const { title, means, todo } = t.alarms.kinds[kind];
  const rows: (readonly [ComponentChildren, ComponentChildren])[] = [
    [t.alarms.at, `${formatTime(at)} (${formatAge(at)})`],
  ];
  for (const [name, value] of Object.entries(facts)) {
    const label = t.alarms.facts[name];
    if (label !== undefined) rows.push([label, factText(value)]);
  }
  return (
    <Card
      className="alarm"
      title={
        <>
          <Tag look="bad">{title}</Tag> {kind === 'claimed' ? <Own>{source}</Own> : <Path>{source}</Path>}
        </>
      }
    >
      <p>{means}</p>
      {FILLED in facts ? (
        <p>
          <strong>{t.alarms.filled}</strong>
        </p>
      ) : null}
      <h3>{t.alarms.todo}</h3>
      <p>{todo}</p>
      <Facts rows={rows} />
      <AlarmSnapshots alarm={alarm} />
      <details class="command">
        <summary>{t.alarms.details}</summary>
        <p>
          <Own>{text}</Own>
        </p>
      </details>
    </Card>
  );
}

function factText(value: unknown): ComponentChildren {
  if (typeof value === 'number') return formatCount(value);
  return <Own>{String(value)}</Own>;
}
