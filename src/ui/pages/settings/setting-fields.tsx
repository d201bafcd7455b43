/** Fields that edit one setting each, with its name, its default, and the agent's words about its value. */
import type { ComponentChildren, JSX } from 'preact';
import { useState } from 'preact/hooks';
import { Button } from '../../components/button.tsx';
import {
  Checkbox,
  type Choice,
  Select,
  TextArea,
  TextField,
  type TextFieldFacts,
} from '../../components/field.tsx';
import { About, Path } from '../../components/own-text.tsx';
import { t } from '../../language/language.ts';
import { nameOf, problemInWords, valueInWords } from './setting-words.tsx';
import { isSame, type KeyPath, shownPath, valueAt } from './settings-draft.ts';
import { useDraft } from './settings-form.tsx';
import { DEFAULTS, type SecretReference, SOURCE_DEFAULTS } from './settings-values.ts';

export interface SettingFacts {
  readonly path: KeyPath;
  /** Replaces the name that the setting has everywhere. */
  readonly label?: ComponentChildren;
  readonly hint?: ComponentChildren;
  readonly disabled?: boolean;
}

/** The default of a setting; undefined if it has none, as entries of lists other than sources. */
function defaultAt(path: KeyPath): unknown {
  if (path[0] === 'sources') return valueAt(SOURCE_DEFAULTS, path.slice(2));
  return valueAt(DEFAULTS, path);
}

/** The facts and functions that every field of a setting uses. */
export function useSetting({ path, label, hint, disabled }: SettingFacts) {
  const form = useDraft();
  const value = valueAt(form.draft, path);
  const standard = defaultAt(path);
  const found = form.problemAt(path);
  const differs = standard !== undefined && !isSame(value, standard);
  return {
    value,
    set: (next: unknown) => form.set(path, next),
    facts: {
      name: shownPath(path),
      label: label ?? nameOf(path),
      ...(disabled === undefined ? {} : { disabled }),
      ...(found === undefined ? {} : { problem: problemInWords(path, found) }),
      ...(hint === undefined && !differs
        ? {}
        : {
            hint: (
              <>
                {hint}
                {hint === undefined || !differs ? null : ' '}
                {differs ? <Standard path={path} standard={standard} /> : null}
              </>
            ),
          }),
    },
  };
}

function Standard({ path, standard }: { readonly path: KeyPath; readonly standard: unknown }): JSX.Element {
  const form = useDraft();
  return (
    <span class="standard">
      {t.settings.standard}
      {t.common.colon} {valueInWords(path, standard)} ·{' '}
      <Button type="button" look="bare" onClick={() => form.set(path, standard)}>
        {t.settings.useStandard}
        <About>{nameOf(path)}</About>
      </Button>
    </span>
  );
}

type TextKind = Pick<TextFieldFacts, 'type' | 'placeholder' | 'inputmode'>;

/** A text field. With `emptyIsNull`, an empty field stands for null. */
export function TextSetting(
  facts: SettingFacts & TextKind & { readonly emptyIsNull?: boolean },
): JSX.Element {
  const { type, placeholder, inputmode, emptyIsNull = false } = facts;
  const setting = useSetting(facts);
  return (
    <TextField
      {...setting.facts}
      {...(type === undefined ? {} : { type })}
      {...(placeholder === undefined ? {} : { placeholder })}
      {...(inputmode === undefined ? {} : { inputmode })}
      value={typeof setting.value === 'string' ? setting.value : ''}
      onValue={(text) => setting.set(emptyIsNull && text.trim() === '' ? null : text)}
    />
  );
}

/** Text that is no number is kept as typed, so that the agent can report it. */
export function NumberSetting(facts: SettingFacts & { readonly emptyIsNull?: boolean }): JSX.Element {
  const { emptyIsNull = false } = facts;
  const setting = useSetting(facts);
  const shown = typeof setting.value === 'number' ? String(setting.value) : setting.value;
  const read = (text: string): unknown => {
    if (emptyIsNull && text.trim() === '') return null;
    return /^\d{1,9}$/.test(text.trim()) ? Number(text) : text;
  };
  return (
    <TextField
      {...setting.facts}
      inputmode="numeric"
      placeholder={emptyIsNull ? t.common.none : ''}
      value={typeof shown === 'string' ? shown : ''}
      onValue={(text) => setting.set(read(text))}
    />
  );
}

export function FlagSetting(facts: SettingFacts): JSX.Element {
  const setting = useSetting(facts);
  const { problem, ...shown } = setting.facts;
  return (
    <>
      <Checkbox {...shown} checked={setting.value === true} onChecked={setting.set} />
      {problem === undefined ? null : <p class="problem">{problem}</p>}
    </>
  );
}

export function ChoiceSetting(facts: SettingFacts & { readonly choices: readonly Choice[] }): JSX.Element {
  const setting = useSetting(facts);
  const value = typeof setting.value === 'string' ? setting.value : '';
  const { choices } = facts;
  // A value from the file stays a choice, even if the page does not know it.
  const isKnown = choices.some((choice) => choice.value === value);
  return (
    <Select
      {...setting.facts}
      choices={isKnown ? choices : [...choices, { value, label: value }]}
      value={value}
      onValue={setting.set}
    />
  );
}

/** A list, with one entry on each line. */
export function LinesSetting(facts: SettingFacts & { readonly rows?: number }): JSX.Element {
  const setting = useSetting(facts);
  const lines = Array.isArray(setting.value) ? setting.value.map(String) : [];
  // A new line is empty at first, and not an entry yet.
  const [typed, setTyped] = useState<string | undefined>(undefined);
  const text = typed !== undefined && isSame(linesOf(typed), lines) ? typed : lines.join('\n');
  return (
    <TextArea
      {...setting.facts}
      rows={facts.rows ?? Math.min(12, Math.max(3, lines.length + 1))}
      value={text}
      onValue={(next) => {
        setTyped(next);
        setting.set(linesOf(next));
      }}
    />
  );
}

function linesOf(text: string): readonly string[] {
  return text.split('\n').filter((line) => line.trim() !== '');
}

/** A secret is typed once, and never shown again: only where it is stored. */
export function SecretSetting(facts: SettingFacts): JSX.Element {
  const form = useDraft();
  const { path } = facts;
  const setting = useSetting(facts);
  const reference = setting.value as SecretReference | null | undefined;
  const isStored = reference !== null && reference !== undefined;
  const typed = form.typedSecret(path);
  return (
    <TextField
      {...setting.facts}
      type="password"
      autocomplete="new-password"
      value={typed}
      placeholder={isStored ? t.settings.secretStored : ''}
      hint={
        isStored ? (
          <>
            <SecretPlace reference={reference} />{' '}
            <Button type="button" look="bare" onClick={() => setting.set(null)}>
              {t.settings.secretForget}
              <About>{nameOf(path)}</About>
            </Button>
          </>
        ) : (
          (facts.hint ?? t.settings.secretHint)
        )
      }
      onValue={(text) => form.typeSecret(path, text)}
    />
  );
}

export function SecretPlace({
  reference,
  isReplaceable = true,
}: {
  readonly reference: SecretReference;
  readonly isReplaceable?: boolean;
}): JSX.Element {
  const [[kind, place] = ['file', '']] = Object.entries(reference);
  return (
    <>
      {t.settings.secretKept} {t.settings.secretPlaces[kind] ?? kind}
      {t.common.colon} <Path>{String(place)}</Path>.{isReplaceable ? ` ${t.settings.secretReplace}` : ''}
    </>
  );
}

/** Setting of how the content of a source is compressed. */
export function CompressionSetting({
  index,
  label,
}: {
  readonly index: number;
  readonly label?: JSX.Element;
}): JSX.Element {
  return (
    <ChoiceSetting
      path={['sources', index, 'compression']}
      {...(label === undefined ? {} : { label })}
      choices={['zstd', 'zstd:1', 'zstd:9', 'zstd:19', 'auto', 'none'].map((value) => ({
        value,
        label: t.performance.compressions[value] ?? value,
      }))}
    />
  );
}
