/** Starts a check, a clean-up or a restore drill of a destination. */
import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import type { AnyJob } from '../../../api/schemas/page/jobs.ts';
import { ask } from '../../agent/ask.ts';
import { useOverview } from '../../agent/overview.ts';
import { useAction } from '../../agent/use-asked.ts';
import { Actions, Button } from '../../components/button.tsx';
import { Dialog } from '../../components/dialog.tsx';
import { Checkbox, Select, TextField } from '../../components/field.tsx';
import { useShownName } from '../../parts/place.tsx';
import { Problem } from '../../components/problem.tsx';
import { t } from '../../language/language.ts';
import { goTo, hrefOf } from '../../parts/route.ts';

export type Operation = 'check' | 'prune' | 'drill';

export interface OperationDialogFacts {
  readonly operation: Operation;
  readonly onClose: () => void;
}

/** Shares of the stored data that a check may read. */
const SHARES = ['0', '0.05', '0.25', '1'] as const;
const MOST_FILES = 10_000;

export function OperationDialog({ operation, onClose }: OperationDialogFacts): JSX.Element {
  const { destinations } = useOverview();
  const usual = destinations.find((one) => one.is_default) ?? destinations[0];
  const [destination, setDestination] = useState(usual?.name ?? '');
  const shownName = useShownName();
  const [share, setShare] = useState('0.05');
  const [appliesRetention, setAppliesRetention] = useState(true);
  const [files, setFiles] = useState('');
  const [isWrong, setWrong] = useState(false);
  const texts = t.jobs.operations[operation];
  const options = (): Readonly<Record<string, unknown>> => {
    if (operation === 'check') return { read_data: Number(share) };
    if (operation === 'prune') return { apply_retention: appliesRetention };
    return files === '' ? {} : { files: Number(files) };
  };
  const start = useAction(async () => {
    const isCounted = operation !== 'drill' || files === '' || isCount(files);
    setWrong(!isCounted);
    if (!isCounted) return;
    const body = { ...(destination === '' ? {} : { destination }), ...options() };
    const job = await ask<AnyJob>('POST', `/${operation}`, { body });
    onClose();
    goTo(hrefOf(['jobs', job.id]));
  });
  return (
    <Dialog title={texts.title} onClose={onClose}>
      <p>{texts.what}</p>
      <form
        noValidate
        onSubmit={(event) => {
          event.preventDefault();
          void start.run();
        }}
      >
        <Select
          name="operation-destination"
          label={t.jobs.destination}
          value={destination}
          choices={destinations.map(({ name }) => ({ value: name, label: shownName(name) }))}
          onValue={setDestination}
        />
        {operation === 'check' ? (
          <Select
            name="operation-share"
            label={t.jobs.readData}
            hint={t.jobs.readDataHint}
            value={share}
            choices={SHARES.map((value) => ({ value, label: t.jobs.shares[value] }))}
            onValue={setShare}
          />
        ) : null}
        {operation === 'prune' ? (
          <Checkbox
            name="operation-retention"
            label={t.jobs.applyRetention}
            hint={t.jobs.applyRetentionHint}
            checked={appliesRetention}
            onChecked={setAppliesRetention}
          />
        ) : null}
        {operation === 'drill' ? (
          <TextField
            name="operation-files"
            label={t.jobs.drillFiles}
            hint={t.jobs.drillFilesHint}
            optional={t.common.optional}
            inputmode="numeric"
            value={files}
            problem={isWrong ? t.jobs.drillFilesWrong : undefined}
            onValue={setFiles}
          />
        ) : null}
        <Problem error={start.problem} />
        <Actions>
          <Button look="main-action" disabled={start.isBusy}>
            {texts.start}
          </Button>
        </Actions>
      </form>
    </Dialog>
  );
}

function isCount(text: string): boolean {
  return /^\d{1,5}$/.test(text) && Number(text) >= 1 && Number(text) <= MOST_FILES;
}
