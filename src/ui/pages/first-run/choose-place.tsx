/** Step 2: choosing where backups go. A place elsewhere is tried out before it is accepted. */
import type { JSX } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import type { DestinationItem, Suggestions } from '../../../api/schemas/page/protect.ts';
import { Actions, Button } from '../../components/button.tsx';
import { Card } from '../../components/card.tsx';
import { ChoiceCards } from '../../components/choice-cards.tsx';
import { Path } from '../../components/own-text.tsx';
import { Notice } from '../../components/tag.tsx';
import { t } from '../../language/language.ts';
import { type DestinationKind, problemsOf } from '../../parts/destination-draft.ts';
import { DestinationForm } from '../../parts/destination-form.tsx';
import type { Trial } from '../../parts/destination-trial.ts';
import type { FirstPlan } from './first-plan.ts';
import { StepHead } from './step-head.tsx';

/** The kinds that most people have. The settings offer a few more. */
const KINDS: readonly DestinationKind[] = ['directory', 's3', 'sftp', 'webdav', 'rclone'];

export interface ChoosePlaceFacts {
  readonly plan: FirstPlan;
  readonly onPlan: (plan: FirstPlan) => void;
  readonly disks: Suggestions['disks'];
  /** Where backups go if nothing is changed. */
  readonly present: DestinationItem | undefined;
  /** The trial of the draft in `plan`. Its result is kept when the user goes back. */
  readonly trial: Trial;
  readonly onBack: () => void;
  readonly onNext: () => void;
}

export function ChoosePlace(facts: ChoosePlaceFacts): JSX.Element {
  const { plan, onPlan, disks, present, trial, onBack, onNext } = facts;
  /** How often the user tried to go on with this kind of place. */
  const [asked, setAsked] = useState(0);
  useEffect(() => {
    if (asked > 0) document.querySelector<HTMLElement>('.destination-form [aria-invalid]')?.focus();
  }, [asked]);
  const texts = t.firstRun.where;
  const isElsewhere = plan.place === 'elsewhere';
  const isEmbedded = present?.is_embedded ?? true;
  const problems = problemsOf(plan.draft);
  const isUsable = trial.tried?.test.usable === true;
  const goOn = (): void => {
    if (!isElsewhere || isUsable) {
      onPlan({ ...plan, setting: isElsewhere ? trial.tried?.setting : undefined });
      onNext();
      return;
    }
    setAsked(asked + 1);
    if (Object.keys(problems).length === 0) void trial.run();
  };
  return (
    <Card label={texts.title}>
      <StepHead step="where" title={texts.title} lead={texts.lead} />
      <ChoiceCards
        name="place"
        legend={texts.legend}
        isLegendUnseen
        value={plan.place}
        choices={[
          { value: 'elsewhere', label: texts.elsewhere, note: texts.elsewhereNote },
          {
            value: 'present',
            label: isEmbedded ? texts.here : texts.present,
            note: present === undefined || isEmbedded ? texts.hereNote : <Path>{present.url}</Path>,
          },
        ]}
        onValue={(place) => onPlan({ ...plan, place })}
      />
      {isElsewhere ? (
        <form
          onSubmit={(event) => {
            event.preventDefault();
            goOn();
          }}
        >
          <DestinationForm
            draft={plan.draft}
            onDraft={(draft) => {
              if (draft.kind !== plan.draft.kind) setAsked(0);
              onPlan({ ...plan, draft, setting: undefined });
            }}
            kinds={KINDS}
            problems={asked > 0 ? problems : {}}
            disks={disks}
            trial={trial}
          />
          {/* Makes Enter in a field do what the main button does. */}
          <button class="unseen" tabIndex={-1} aria-hidden="true" disabled={trial.isBusy} />
        </form>
      ) : isEmbedded ? (
        <Notice look="warning">
          <p>{texts.hereWarning}</p>
        </Notice>
      ) : null}
      <Actions>
        <Button type="button" look="main-action" disabled={isElsewhere && trial.isBusy} onClick={goOn}>
          {!isElsewhere || isUsable ? t.common.next : t.parts.destination.test}
        </Button>
        <Button type="button" onClick={onBack}>
          {t.common.back}
        </Button>
      </Actions>
    </Card>
  );
}
