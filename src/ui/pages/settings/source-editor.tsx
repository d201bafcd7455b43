/** Everything that can be set for one source. */
import type { JSX } from 'preact';
import { Checkbox } from '../../components/field.tsx';
import { Own } from '../../components/own-text.tsx';
import { Place } from '../../parts/place.tsx';
import { t } from '../../language/language.ts';
import { CompressionSetting, FlagSetting, LinesSetting, TextSetting } from './setting-fields.tsx';
import { ScheduleEditor } from './schedule-field.tsx';
import { setCommand } from './settings-commands.ts';
import type { KeyPath } from './settings-draft.ts';
import { useDraft } from './settings-form.tsx';
import {
  defaultDestinationOf,
  destinationNames,
  destinationsOf,
  type SourceValues,
} from './settings-values.ts';
import { SourceEstimate } from './source-estimate.tsx';

interface SourceFacts {
  readonly index: number;
  readonly source: SourceValues;
}

export function SourceEditor({ index, source }: SourceFacts): JSX.Element {
  const at = (...path: KeyPath): KeyPath => ['sources', index, ...path];
  const { requireEncryption } = useDraft().draft;
  return (
    <div class="editor">
      <h3>{t.sources.whereTo}</h3>
      <SourceDestinations index={index} source={source} />
      <h3>{t.sources.when}</h3>
      <ScheduleEditor path={at('schedule')} />
      <FlagSetting path={at('watch')} hint={t.sources.watchHint} />
      <FlagSetting path={at('poll')} hint={t.sources.pollHint} />
      <h3>{t.sources.leftOut}</h3>
      <LinesSetting path={at('exclude', 'patterns')} hint={t.sources.patternsHint} />
      <LinesSetting path={at('acceptUnreadable')} hint={t.sources.acceptHint} rows={2} />
      <div class="field-grid">
        <LinesSetting path={at('exclude', 'ignoreFiles')} hint={t.sources.ignoreFilesHint} rows={2} />
        <LinesSetting path={at('exclude', 'ifPresent')} hint={t.sources.ifPresentHint} rows={2} />
      </div>
      <TextSetting
        path={at('exclude', 'largerThan')}
        hint={t.sources.largerHint}
        placeholder="4 GiB"
        emptyIsNull
      />
      <FlagSetting path={at('exclude', 'caches')} hint={t.sources.cachesHint} />
      <FlagSetting path={at('exclude', 'oneFileSystem')} hint={t.sources.oneFileSystemHint} />
      <SourceEstimate source={source} />
      <h3>{t.sources.stored}</h3>
      <div class="field-grid">
        <CompressionSetting index={index} />
        <LinesSetting path={at('tags')} hint={t.sources.tagsHint} rows={2} />
      </div>
      <FlagSetting
        path={at('encryption')}
        disabled={requireEncryption && source.encryption}
        {...(requireEncryption ? { hint: t.sources.encryptionRequired } : {})}
      />
      <FlagSetting path={at('deduplication')} hint={t.sources.deduplicationHint} />
      <Hooks index={index} source={source} />
    </div>
  );
}

/** The destinations of a source: one, several, or the default one. */
function SourceDestinations({ index, source }: SourceFacts): JSX.Element {
  const { draft, set, problemAt } = useDraft();
  const names = destinationNames(draft);
  const isDefault = source.destination === null && source.destinations === null;
  const chosen = destinationsOf(source, draft);
  const choose = (wanted: readonly string[]): void => {
    const [only = null] = wanted;
    set(['sources', index, 'destination'], wanted.length > 1 ? null : only);
    set(['sources', index, 'destinations'], wanted.length > 1 ? wanted : null);
  };
  const id = `sources[${index}].destinations`;
  const problem =
    problemAt(['sources', index, 'destination']) ?? problemAt(['sources', index, 'destinations']);
  return (
    <fieldset>
      <legend class="unseen">{t.sources.whereTo}</legend>
      <Checkbox
        name={`${id}-default`}
        label={
          <>
            {t.sources.defaultDestination} (<Place name={defaultDestinationOf(draft)} />)
          </>
        }
        checked={isDefault}
        onChecked={(isOn) => choose(isOn ? [] : chosen)}
      />
      {isDefault ? null : (
        <div class="choices indented">
          {names.map((name) => (
            <label key={name} class="check" for={`${id}-${name}`}>
              <input
                id={`${id}-${name}`}
                type="checkbox"
                checked={chosen.includes(name)}
                // The last destination cannot be deselected: without any, the source would use the default one.
                disabled={chosen.length === 1 && chosen.includes(name)}
                onChange={({ currentTarget }) =>
                  choose(names.filter((one) => (one === name ? currentTarget.checked : chosen.includes(one))))
                }
              />
              <Place name={name} />
            </label>
          ))}
        </div>
      )}
      {problem === undefined ? null : (
        <p class="problem">
          <Own>{problem.message}</Own>
        </p>
      )}
      {chosen.length > 1 ? <p class="hint">{t.sources.severalHint}</p> : null}
    </fieldset>
  );
}

/** Shows the hooks. As commands run with the rights of the agent, they can be changed only on the machine. */
function Hooks({ index, source: { hooks } }: SourceFacts): JSX.Element {
  const commands = (['before', 'after'] as const).map((name) => ({ name, command: hooks[name] }));
  return (
    <>
      <h3>{t.sources.hooks}</h3>
      <p class="quiet">{t.sources.hooksAbout}</p>
      <dl>
        {commands.map(({ name, command }) => [
          <dt key={`${name}-name`}>{t.settings.names[`sources[].hooks.${name}`]}</dt>,
          <dd key={name}>
            {command === null ? t.common.none : <Own>{command}</Own>}
            <pre>{setCommand(['sources', index, 'hooks', name], command ?? t.sources.hookExample[name])}</pre>
          </dd>,
        ])}
      </dl>
    </>
  );
}
