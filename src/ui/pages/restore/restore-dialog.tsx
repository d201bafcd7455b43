/** Restoring in three steps: what, where to, and what that would do. */
import type { JSX } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import type { Restore } from '../../../api/schemas/job.ts';
import type { Snapshot } from '../../../api/schemas/snapshot.ts';
import { ask, type AskError } from '../../agent/ask.ts';
import { useAction, useAsked } from '../../agent/use-asked.ts';
import { useOverview } from '../../agent/overview.ts';
import { Actions, Button } from '../../components/button.tsx';
import { Command } from '../../components/command.tsx';
import { Dialog } from '../../components/dialog.tsx';
import { Problem } from '../../components/problem.tsx';
import { formatTime } from '../../language/format.ts';
import { t } from '../../language/language.ts';
import { goTo } from '../../parts/route.ts';
import type { PathRef } from './path-ref.ts';
import { hrefOfRestore } from './place.ts';
import {
  commandOfDraft,
  draftOf,
  type OverwriteMode,
  requestOf,
  type RestoreDraft,
} from './restore-draft.ts';
import type { Chosen } from './selection.ts';
import { PreviewStep } from './step-preview.tsx';
import { WhatStep } from './step-what.tsx';
import { WhereStep } from './step-where.tsx';

const STEPS = ['what', 'where', 'check'] as const;
type Step = (typeof STEPS)[number];

export interface RestoreDialogFacts {
  readonly snapshot: string;
  readonly chosen: readonly Chosen[];
  /** The directory that is shown, which is offered when nothing is chosen. */
  readonly directory: PathRef;
  /** `check`: nothing is left to choose, as for a file that is gone from its folder. */
  readonly begin: Step;
  /** What is offered for existing files. Who asks for a version of one file wants it in the place of the present one. */
  readonly overwrite?: OverwriteMode;
  readonly onClose: () => void;
}

export function RestoreDialog(facts: RestoreDialogFacts): JSX.Element {
  const { snapshot: id, chosen, directory, begin, overwrite, onClose } = facts;
  const [draft, setDraft] = useState(() => draftOf(id, chosen, directory, overwrite));
  const [step, setStep] = useState<Step>(begin);
  /** Why the agent refused, shown beside what has to be changed. */
  const [refusal, setRefusal] = useState<AskError | undefined>(undefined);
  const asked = useAsked(async (signal) => await ask<Snapshot>('GET', `/snapshots/${id}`, { signal }), [id]);
  const snapshot = asked.data;
  const destination = useDestination(snapshot);
  const start = useAction(async () => {
    const job = await ask<Restore>('POST', '/restore', { body: requestOf(draft, false) });
    goTo(hrefOfRestore(job.id));
  });
  /** Whether the trial run is over, and its result is shown. */
  const [isTried, setTried] = useState(false);
  const heading = useRef<HTMLHeadingElement>(null);
  const before = useRef(step);
  useEffect(() => {
    if (before.current !== step) heading.current?.focus();
    before.current = step;
  }, [step]);
  const change = (part: Partial<RestoreDraft>): void => {
    setRefusal(undefined);
    setDraft({ ...draft, ...part });
  };
  const isPlaceGiven = draft.isInPlace || draft.target.trim() !== '';
  return (
    <Dialog title={t.restore.wizard} onClose={onClose} isWide>
      <StepList step={step} />
      <Problem error={asked.problem ?? start.problem} />
      <h3 ref={heading} tabIndex={-1}>
        {t.restore.stepTitles[step]}
      </h3>
      {snapshot === undefined ? (
        <p class="quiet">{asked.problem === undefined ? t.common.loading : ''}</p>
      ) : (
        <>
          <p class="quiet">{t.restore.fromBackupOf(formatTime(snapshot.created_at))}</p>
          {step === 'what' ? (
            <WhatStep draft={draft} snapshot={snapshot} chosen={chosen} onDraft={change} />
          ) : null}
          {step === 'where' ? <WhereStep draft={draft} refusal={refusal} onDraft={change} /> : null}
          {step === 'check' ? (
            <PreviewStep
              draft={draft}
              onTried={() => setTried(true)}
              onRefused={(error) => {
                setRefusal(error);
                setStep('where');
              }}
            />
          ) : null}
        </>
      )}
      <Actions>
        {step === 'what' ? null : (
          <Button type="button" onClick={() => setStep(step === 'check' ? 'where' : 'what')}>
            {t.common.back}
          </Button>
        )}
        {step === 'check' ? (
          <Button
            type="button"
            look="main-action"
            disabled={start.isBusy || !isTried}
            onClick={() => void start.run()}
          >
            {t.restore.restoreNow}
          </Button>
        ) : (
          <Button
            type="button"
            look="main-action"
            disabled={snapshot === undefined || (step === 'where' && !isPlaceGiven)}
            onClick={() => {
              setTried(false);
              setStep(step === 'what' ? 'where' : 'check');
            }}
          >
            {t.common.next}
          </Button>
        )}
      </Actions>
      <Command lines={[commandOfDraft(draft, destination)]} />
    </Dialog>
  );
}

function StepList({ step }: { readonly step: Step }): JSX.Element {
  return (
    <ol class="steps">
      {STEPS.map((one, index) => (
        <li key={one} aria-current={one === step ? 'step' : undefined}>
          <span aria-hidden="true">{index + 1}</span> {t.restore.steps[one]}
        </li>
      ))}
    </ol>
  );
}

/** The destination to name on the command line; none for the default one. */
export function useDestination(snapshot: Pick<Snapshot, 'destination'> | undefined): string | undefined {
  const { destinations } = useOverview();
  if (snapshot === undefined) return undefined;
  const isDefault = destinations.some(({ name, is_default: is }) => is && name === snapshot.destination);
  return isDefault ? undefined : snapshot.destination;
}
