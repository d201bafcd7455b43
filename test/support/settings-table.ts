/** The tables of docs/configuration.md as the schema has them: `node test/support/settings-table.ts` prints them. */
import { fileURLToPath } from 'node:url';
import { schemaNode, type SchemaNode } from '../../src/config/schema.ts';
import { SECRET_TITLE } from '../../src/config/schema-parts.ts';

export interface SettingRow {
  /** `sources[].exclude.caches`, `destinations.NAME.url`. */
  readonly key: string;
  readonly schema: SchemaNode;
  readonly required: boolean;
}

/** Every property at any depth; the inside of secret references is left out. */
export function settingRows(schema: SchemaNode = schemaNode(), key = ''): readonly SettingRow[] {
  if (schema.title === SECRET_TITLE) return [];
  const before = key === '' ? '' : `${key}.`;
  const properties = Object.entries(schema.properties ?? {}).flatMap(([name, part]) => {
    const row = { key: `${before}${name}`, schema: part, required: schema.required?.includes(name) === true };
    return [row, ...settingRows(part, row.key)];
  });
  const named = Object.values(schema.patternProperties ?? {}).flatMap((part) =>
    settingRows(part, `${key}.NAME`),
  );
  return [
    ...properties,
    ...named,
    ...(schema.items === undefined ? [] : settingRows(schema.items, `${key}[]`)),
  ];
}

export function settingsTable(): string {
  const [single, sections] = [[] as SettingRow[], new Map<string, SettingRow[]>()];
  for (const row of settingRows()) {
    const [section = '', inner] = row.key.split(/[.[]/);
    if (inner !== undefined) sections.get(section)?.push(row);
    else if (hasParts(row.schema)) sections.set(section, []);
    else single.push(row);
  }
  const tops = schemaNode().properties ?? {};
  return [
    table(single),
    ...[...sections].map(
      ([name, rows]) => `### ${name}\n\n${tops[name]?.description ?? ''}\n\n${table(rows)}`,
    ),
  ].join('\n\n');
}

function hasParts({ properties, patternProperties, items }: SchemaNode): boolean {
  return properties !== undefined || patternProperties !== undefined || items?.properties !== undefined;
}

function table(rows: readonly SettingRow[]): string {
  const lines = rows.map(
    ({ key, schema, required }) =>
      `| \`${key}\` | ${standard(schema, required)} | ${schema.description ?? ''}${bounds(schema)} |`,
  );
  return ['| setting | default | |', '|---|---|---|', ...lines].join('\n');
}

function standard(schema: SchemaNode, required: boolean): string {
  if (required) return 'required';
  const text = JSON.stringify(schema.default);
  return text === undefined || text === '{}' ? '' : `\`${text}\``;
}

function bounds({ enum: values, minimum, maximum }: SchemaNode): string {
  if (values !== undefined)
    return ` One of ${values.map((value) => `\`${JSON.stringify(value)}\``).join(', ')}.`;
  return minimum === undefined || minimum === maximum ? '' : ` From ${minimum} to ${maximum}.`;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) process.stdout.write(`${settingsTable()}\n`);
