/** Shows the end of the agent's log. */
import type { JSX } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import type { AgentLog } from '../../../api/schemas/page/settings.ts';
import { ask, withQuery } from '../../agent/ask.ts';
import { useAsked } from '../../agent/use-asked.ts';
import { Button } from '../../components/button.tsx';
import { Card } from '../../components/card.tsx';
import { Checkbox, Select } from '../../components/field.tsx';
import { LogLines } from '../../components/log-lines.tsx';
import { Path } from '../../components/own-text.tsx';
import { Problem } from '../../components/problem.tsx';
import { t } from '../../language/language.ts';

const LEVELS = ['debug', 'info', 'warn', 'error'] as const;
const LINES = 200;
/** Milliseconds between two requests while the log is followed. */
const FOLLOW_MS = 3_000;

export function AgentLogCard(): JSX.Element {
  const { advanced } = t;
  const [level, setLevel] = useState<(typeof LEVELS)[number]>('info');
  const [follows, setFollows] = useState(false);
  const asked = useAsked(
    (signal) => ask<AgentLog>('GET', withQuery('/agent-log', { level, lines: LINES }), { signal }),
    [level],
  );
  const { again } = asked;
  useEffect(() => {
    if (!follows) return undefined;
    const timer = setInterval(again, FOLLOW_MS);
    return () => clearInterval(timer);
  }, [follows, again]);
  const lines = asked.data?.lines.toReversed();
  return (
    <Card title={advanced.log}>
      {asked.data === undefined ? null : (
        <p class="quiet small-text">
          <Path>{asked.data.file}</Path>
        </p>
      )}
      <div class="row log-controls">
        <Select
          name="log-level"
          label={advanced.logLevel}
          value={level}
          choices={LEVELS.map((one) => ({ value: one, label: advanced.logLevels[one] }))}
          onValue={(chosen) => setLevel(LEVELS.find((one) => one === chosen) ?? 'info')}
        />
        <Button type="button" disabled={asked.isBusy} onClick={again}>
          {advanced.logAgain}
        </Button>
        <Checkbox name="log-follow" label={advanced.logFollow} checked={follows} onChecked={setFollows} />
      </div>
      <Problem error={asked.problem} />
      {lines?.length === 0 ? <p class="quiet">{advanced.logEmpty}</p> : null}
      {lines === undefined || lines.length === 0 ? null : <LogLines lines={lines} label={advanced.log} />}
    </Card>
  );
}
