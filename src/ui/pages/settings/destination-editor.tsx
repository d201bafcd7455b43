/** Adds or changes a destination: it is typed in, tried out, then taken over into the settings. */
import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import type { Suggestions } from '../../../api/schemas/page/protect.ts';
import { Actions, Button } from '../../components/button.tsx';
import { t } from '../../language/language.ts';
import { type DestinationDraft, problemsOf } from '../../parts/destination-draft.ts';
import { DestinationForm } from '../../parts/destination-form.tsx';
import { type KnownDestination, useDestinationTrial } from '../../parts/destination-trial.ts';
import type { DestinationValues } from './settings-values.ts';

export interface DestinationEditorFacts {
  readonly start: DestinationDraft;
  /** The destination, if it is already in the settings. */
  readonly known?: KnownDestination;
  readonly hasSecrets?: boolean;
  readonly disks?: Suggestions['disks'];
  readonly canTake?: boolean;
  readonly takeLabel: string;
  readonly onTake: (setting: DestinationValues) => void;
  readonly onCancel: () => void;
}

export function DestinationEditor(facts: DestinationEditorFacts): JSX.Element {
  const { start, known, hasSecrets = false, disks = [], canTake = true, takeLabel, onTake, onCancel } = facts;
  const [draft, setDraft] = useState(start);
  const [isChecked, setChecked] = useState(false);
  const trial = useDestinationTrial(draft, known);
  const problems = problemsOf(draft);
  const tryOut = (): void => {
    setChecked(true);
    if (Object.keys(problems).length === 0) void trial.run();
  };
  const { tried } = trial;
  const take = async (): Promise<void> => {
    setChecked(true);
    if (Object.keys(problems).length > 0) return;
    const now = tried ?? (await trial.run());
    // A destination that does not work can be taken nevertheless, with a second click: its disk may be elsewhere today.
    if (now !== undefined && (tried !== undefined || now.test.usable))
      onTake({ passphrase: null, access: null, ...now.setting, untested: !now.test.usable });
  };
  return (
    <>
      <DestinationForm
        draft={draft}
        onDraft={setDraft}
        problems={isChecked ? problems : {}}
        disks={disks}
        // The kind cannot be changed: another kind of place is another destination.
        {...(known === undefined ? {} : { kinds: [start.kind] })}
        hasSecrets={hasSecrets}
        trial={trial}
      />
      <Actions>
        <Button
          type="button"
          look="main-action"
          disabled={trial.isBusy || !canTake}
          onClick={() => void take()}
        >
          {tried === undefined || tried.test.usable ? takeLabel : t.destinations.takeAnyway}
        </Button>
        <Button type="button" disabled={trial.isBusy} onClick={tryOut}>
          {t.parts.destination.test}
        </Button>
        <Button type="button" onClick={onCancel}>
          {t.common.cancel}
        </Button>
      </Actions>
    </>
  );
}
