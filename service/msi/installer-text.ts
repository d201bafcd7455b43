/** What the installer for Windows does, in the language of WiX 3: files, the path, an entry of the start menu. */
import { createHash } from 'node:crypto';
import { lstatSync } from 'node:fs';
import path from 'node:path';
import type { Stage } from '../package/stage.ts';

/** Stays the same for all versions: by it Windows knows that one takes the place of another. */
const UPGRADE_CODE = '7C1B0E0A-3F6E-5C55-9A0F-6B2D0D1E9E4B';

/** The component of the files in the folder of the program itself. */
export const TOP_COMPONENT = `C${mark('Holdfast')}`;

export function installerText(stage: Stage, names: readonly string[], version: string): string {
  const components: string[] = [];
  const directories = directoryText(stage, names, 'Holdfast', components);
  return `<?xml version="1.0" encoding="utf-8"?>
<Wix xmlns="http://schemas.microsoft.com/wix/2006/wi">
  <Product Id="${guid(`product ${version}`)}" Name="Holdfast" Language="1033" Version="${version}" Manufacturer="The Holdfast authors" UpgradeCode="${UPGRADE_CODE}">
    <Package Id="${guid(`package ${version} ${names.length}`)}" InstallerVersion="500" Compressed="yes" InstallScope="perMachine" Description="Holdfast ${version}" Manufacturer="The Holdfast authors" />
    <MajorUpgrade DowngradeErrorMessage="A newer Holdfast is installed. Settings and state that it has written cannot be read by an older one: remove it first, and read docs/install.md." />
    <Media Id="1" Cabinet="holdfast.cab" EmbedCab="yes" />
    <Directory Id="TARGETDIR" Name="SourceDir">
      <Directory Id="ProgramFiles64Folder">
${directories}
      </Directory>
      <Directory Id="ProgramMenuFolder">
        <Component Id="Menu" Guid="${guid('menu')}" Win64="yes">
          <Shortcut Id="PageShortcut" Name="Holdfast" Description="Look after your backups" Target="[INSTALLDIR]holdfast.cmd" Arguments="ui" WorkingDirectory="INSTALLDIR" />
          <RegistryValue Root="HKLM" Key="Software\\Holdfast" Name="Menu" Type="integer" Value="1" KeyPath="yes" />
        </Component>
      </Directory>
    </Directory>
    <Feature Id="Program" Level="1">
${[...components, 'Menu'].map((id) => `      <ComponentRef Id="${id}" />`).join('\n')}
    </Feature>
  </Product>
</Wix>
`;
}

/** One component for each directory that has files. */
function directoryText(stage: Stage, names: readonly string[], at: string, components: string[]): string {
  const below = names.filter((name) => path.posix.dirname(name) === at);
  const [folders, files] = [true, false].map((wanted) =>
    below.filter((name) => lstatSync(stage.at(name)).isDirectory() === wanted),
  );
  const id = at === 'Holdfast' ? 'INSTALLDIR' : `D${mark(at)}`;
  const lines = [`<Directory Id="${id}" Name="${escaped(path.posix.basename(at))}">`];
  if (files !== undefined && files.length > 0) {
    const component = `C${mark(at)}`;
    components.push(component);
    lines.push(`<Component Id="${component}" Guid="${guid(at)}" Win64="yes">`);
    for (const [index, name] of files.entries()) {
      const key = index === 0 ? ' KeyPath="yes"' : '';
      lines.push(
        `<File Id="F${mark(name)}" Name="${escaped(path.posix.basename(name))}" Source="${escaped(name)}"${key} />`,
      );
    }
    lines.push('</Component>');
  }
  for (const folder of folders ?? []) lines.push(directoryText(stage, names, folder, components));
  return [...lines, '</Directory>'].join('\n');
}

function mark(text: string): string {
  return createHash('sha256').update(text).digest('hex').slice(0, 24);
}

/** The same for the same text, as UUIDs of version 5 are. */
export function guid(text: string): string {
  const hex = createHash('sha256').update(`holdfast ${text}`).digest('hex').toUpperCase();
  const variant = ((Number.parseInt(hex.charAt(16), 16) & 3) | 8).toString(16).toUpperCase();
  return [
    hex.slice(0, 8),
    hex.slice(8, 12),
    `5${hex.slice(13, 16)}`,
    `${variant}${hex.slice(17, 20)}`,
    hex.slice(20, 32),
  ].join('-');
}

function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('"', '&quot;');
}
