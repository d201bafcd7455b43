import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import type { AskError } from '../../agent/ask.ts';
import { Button } from '../../components/button.tsx';
import { ChoiceCards } from '../../components/choice-cards.tsx';
import { Checkbox, TextField } from '../../components/field.tsx';
import { Own } from '../../components/own-text.tsx';
import { Notice } from '../../components/tag.tsx';
import { t } from '../../language/language.ts';
import { DirectoryChooser } from '../../parts/directory-chooser.tsx';
import { OVERWRITE_MODES, type RestoreDraft } from './restore-draft.ts';

export interface WhereStepFacts {
  readonly draft: RestoreDraft;
  readonly refusal: AskError | undefined;
  readonly onDraft: (part: Partial<RestoreDraft>) => void;
}

export function WhereStep({ draft, refusal, onDraft }: WhereStepFacts): JSX.Element {
  const { isInPlace, target, overwrite } = draft;
  const [isChoosing, setChoosing] = useState(false);
  return (
    <>
      {refusal === undefined ? null : <Refusal error={refusal} />}
      <ChoiceCards
        isLegendUnseen
        name="restore-where"
        legend={t.restore.stepTitles.where}
        value={isInPlace ? 'original' : 'folder'}
        choices={[
          { value: 'original', label: t.restore.original, note: t.restore.originalHint },
          { value: 'folder', label: t.restore.otherFolder, note: t.restore.otherFolderHint },
        ]}
        onValue={(value) => onDraft({ isInPlace: value === 'original' })}
      />
      {isInPlace ? null : (
        <div class="row chosen-folder">
          <TextField
            name="restore-target"
            label={t.restore.folder}
            value={target}
            placeholder="/"
            required
            maxLength={4096}
            onValue={(value) => onDraft({ target: value })}
          />
          <Button type="button" onClick={() => setChoosing(true)}>
            {t.restore.chooseFolder}
          </Button>
        </div>
      )}
      <ChoiceCards
        name="restore-overwrite"
        legend={t.restore.overwrite}
        value={overwrite}
        choices={OVERWRITE_MODES.map((mode) => ({
          value: mode,
          label: t.restore.overwriteModes[mode],
          note: t.restore.overwriteHints[mode],
        }))}
        onValue={(value) => onDraft({ overwrite: value })}
      />
      <MoreOptions draft={draft} onDraft={onDraft} />
      {isChoosing ? (
        <DirectoryChooser
          title={t.restore.chooseFolderTitle}
          {...(target.trim() === '' ? {} : { start: target.trim() })}
          onChoose={(path) => onDraft({ target: path })}
          onClose={() => setChoosing(false)}
        />
      ) : null}
    </>
  );
}

function MoreOptions({
  draft: { isVerified, withOwnership, deletesExtra },
  onDraft,
}: Pick<WhereStepFacts, 'draft' | 'onDraft'>): JSX.Element {
  return (
    <details class="options">
      <summary>{t.restore.options}</summary>
      <Checkbox
        name="restore-verify"
        label={t.restore.verify}
        hint={t.restore.verifyHint}
        checked={isVerified}
        onChecked={(is) => onDraft({ isVerified: is })}
      />
      <Checkbox
        name="restore-ownership"
        label={t.restore.ownership}
        hint={t.restore.ownershipHint}
        checked={withOwnership}
        onChecked={(is) => onDraft({ withOwnership: is })}
      />
      <Checkbox
        name="restore-delete-extra"
        label={t.restore.deleteExtra}
        hint={t.restore.deleteExtraHint}
        checked={deletesExtra}
        onChecked={(is) => onDraft({ deletesExtra: is })}
      />
      {deletesExtra ? (
        <Notice look="warning" urgent>
          <p>{t.restore.deleteExtraWarning}</p>
        </Notice>
      ) : null}
    </details>
  );
}

/** Says why files cannot be restored there, and which command would allow it. */
function Refusal({ error: { message, details } }: { readonly error: AskError }): JSX.Element {
  const { closed, command, read_only: isReadOnly } = details;
  if (typeof closed !== 'string' || typeof command !== 'string')
    return (
      <Notice look="bad" urgent>
        <Own>{message}</Own>
      </Notice>
    );
  return (
    <Notice look="bad" urgent>
      <div>
        <p>
          {t.restore.mayNotWrite(closed)}{' '}
          {isReadOnly === true ? t.restore.allowService : t.restore.allowWriting}
        </p>
        <pre>
          <Own>{command}</Own>
        </pre>
      </div>
    </Notice>
  );
}
