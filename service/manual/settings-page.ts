/** holdfast-config(5), from the schema of the settings. */
import { builtSchema } from './built.ts';
import type { Edition } from './command-pages.ts';
import { bold, heading, italic, item, literal, page, paragraph, plain, title } from './roff.ts';

/** What of a JSON schema is told. */
interface Schema {
  readonly type?: string | readonly string[];
  readonly description?: string;
  readonly default?: unknown;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly enum?: readonly unknown[];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly patternProperties?: Readonly<Record<string, Schema>>;
  readonly items?: Schema;
}

export async function settingsPage({ version, date }: Edition): Promise<string> {
  const { ConfigSchema } = await builtSchema();
  const root: Schema = JSON.parse(JSON.stringify(ConfigSchema));
  return page([
    title('holdfast-config', 5, date, version, 'File Formats'),
    heading('Name'),
    String.raw`holdfast\-config \- the settings of Holdfast`,
    heading('Description'),
    plain(
      'A file of JSON; comments and commas at the end of a list are accepted. Only what differs from the defaults has to be written. The agent reads the file again when it changes.',
    ),
    paragraph(
      `${bold('holdfast config set')} changes a setting, ${bold('holdfast config check')} says what is wrong with the file, and ${bold('holdfast config path')} where it is.`,
    ),
    heading('Settings'),
    plain('A dot leads into a group, [] stands for each entry of a list, and NAME for a name of your own.'),
    ...settings(root, ''),
    heading('Example'),
    literal([
      '{',
      '  "sources": [{ "path": "~/Documents", "schedule": "daily" }],',
      '  "destinations": { "nas": { "url": "/mnt/nas/holdfast" } }',
      '}',
    ]),
    heading('Files'),
    item(italic('~/.local/state/holdfast/config.json'), plain('Your settings.')),
    item(italic('/etc/holdfast/config.json'), plain('Those of the service of the machine.')),
    heading('See also'),
    `${bold('holdfast')}(1), ${bold('holdfast-config')}(1)`,
  ]);
}

function settings({ properties = {}, patternProperties = {} }: Schema, before: string): readonly string[] {
  const all = [
    ...Object.entries(properties).filter(([name]) => name !== '$schema'),
    ...Object.values(patternProperties).map((schema) => ['NAME', schema] as const),
  ];
  return all.flatMap(([name, schema]) => {
    const path = before === '' ? name : `${before}.${name}`;
    const inner = schema.items?.properties === undefined ? schema : schema.items;
    const place = inner === schema ? path : `${path}[]`;
    return [item(bold(path), plain(told(schema))), ...settings(inner, place)];
  });
}

function told({ description = '', default: standard, minimum, maximum, enum: choices }: Schema): string {
  const isGroup = typeof standard === 'object' && standard !== null && !Array.isArray(standard);
  return [
    description,
    choices === undefined ? '' : `One of ${choices.map((choice) => JSON.stringify(choice)).join(', ')}.`,
    minimum === undefined || maximum === undefined ? '' : `From ${minimum} to ${maximum}.`,
    standard === undefined || isGroup ? '' : `Default: ${JSON.stringify(standard).replaceAll(',', ', ')}.`,
  ]
    .filter((part) => part !== '')
    .join(' ');
}
