/** A field for a setting such as `22:00-06:00`, which can be null. */
import type { JSX } from 'preact';
import { Checkbox, TextField } from '../../components/field.tsx';
import { t } from '../../language/language.ts';
import { type SettingFacts, useSetting } from './setting-fields.tsx';

/** @param facts `initial` is the value when the setting is switched on */
export function ClockRangeSetting(facts: SettingFacts & { readonly initial: string }): JSX.Element {
  const setting = useSetting(facts);
  const text = typeof setting.value === 'string' ? setting.value : '';
  const [from = '', to = ''] = text.split('-');
  const { name, label, hint, problem } = setting.facts;
  return (
    <fieldset>
      <legend class="unseen">{label}</legend>
      <Checkbox
        name={name}
        label={label}
        hint={hint}
        checked={setting.value !== null}
        onChecked={(isOn) => setting.set(isOn ? facts.initial : null)}
      />
      {setting.value === null ? null : (
        <div class="row times">
          <TextField
            name={`${name}-from`}
            label={t.performance.quietFrom}
            type="time"
            value={from}
            onValue={(time) => setting.set(`${time}-${to}`)}
          />
          <TextField
            name={`${name}-to`}
            label={t.performance.quietTo}
            type="time"
            value={to}
            onValue={(time) => setting.set(`${from}-${time}`)}
          />
        </div>
      )}
      {problem === undefined ? null : <p class="problem">{problem}</p>}
    </fieldset>
  );
}
