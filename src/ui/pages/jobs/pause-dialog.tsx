/** Pauses the start of jobs for a while. */
import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { ask } from '../../agent/ask.ts';
import { useOverviewAgain } from '../../agent/overview.ts';
import { useAction } from '../../agent/use-asked.ts';
import { Actions, Button } from '../../components/button.tsx';
import { Dialog } from '../../components/dialog.tsx';
import { Checkbox, Select, TextField } from '../../components/field.tsx';
import { Problem } from '../../components/problem.tsx';
import { t } from '../../language/language.ts';

export function PauseDialog({ onClose }: { readonly onClose: () => void }): JSX.Element {
  const overviewAgain = useOverviewAgain();
  const [choice, setChoice] = useState<(typeof PAUSES)[number]>('hour');
  const [time, setTime] = useState('');
  const [interrupts, setInterrupts] = useState(false);
  const [isWrong, setWrong] = useState(false);
  const pause = useAction(async () => {
    const until = pauseEnd(choice, time, new Date());
    setWrong(until === undefined);
    if (until === undefined) return;
    await ask('POST', '/pause', { body: { interrupt: interrupts, ...(until === null ? {} : { until }) } });
    overviewAgain();
    onClose();
  });
  return (
    <Dialog title={t.jobs.pauseTitle} onClose={onClose}>
      <p>{t.jobs.pauseWhat}</p>
      <form
        noValidate
        onSubmit={(event) => {
          event.preventDefault();
          void pause.run();
        }}
      >
        <Select
          name="pause-choice"
          label={t.jobs.pauseUntil}
          value={choice}
          choices={PAUSES.map((one) => ({ value: one, label: t.jobs.pauses[one] }))}
          onValue={(chosen) => setChoice(PAUSES.find((one) => one === chosen) ?? 'hour')}
        />
        {choice === 'time' ? (
          <TextField
            name="pause-time"
            type="datetime-local"
            label={t.jobs.pauseTime}
            value={time}
            problem={isWrong ? t.jobs.pauseTimeWrong : undefined}
            onValue={setTime}
          />
        ) : null}
        <Checkbox
          name="pause-interrupt"
          label={t.jobs.pauseInterrupt}
          hint={t.jobs.pauseInterruptHint}
          checked={interrupts}
          onChecked={setInterrupts}
        />
        <Problem error={pause.problem} />
        <Actions>
          <Button look="main-action" disabled={pause.isBusy}>
            {t.jobs.pauseDo}
          </Button>
        </Actions>
      </form>
    </Dialog>
  );
}

const PAUSES = ['hour', 'morning', 'time', 'resumed'] as const;
export type PauseChoice = (typeof PAUSES)[number];

/** Hour of the day at which the pause until tomorrow ends. */
const MORNING_HOUR = 8;

/**
 * The end of a pause in RFC 3339; null for a pause without an end; undefined when `time` (of an input, in local time)
 * is invalid or in the past.
 */
export function pauseEnd(choice: PauseChoice, time: string, now: Date): string | null | undefined {
  switch (choice) {
    case 'hour':
      return new Date(now.getTime() + 3_600_000).toISOString();
    case 'morning':
      return new Date(now.getFullYear(), now.getMonth(), now.getDate() + 1, MORNING_HOUR).toISOString();
    case 'time': {
      const end = new Date(time);
      return Number.isNaN(end.getTime()) || end <= now ? undefined : end.toISOString();
    }
    case 'resumed':
      return null;
  }
}
