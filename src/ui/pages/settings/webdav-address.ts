/** The address of the folder of snapshots, as the programs want it that open it. */
import { shellWord } from '../../components/shell-word.ts';

/** GNOME calls WebDAV by http `dav:`, KDE `webdav:`. */
export function desktopAddress(address: string, scheme: 'dav' | 'webdav'): string {
  return address.replace(/^http/, scheme);
}

/** Lists the folder; rclone asks for the password, so that it is in no list of processes. */
export function rcloneLine({ base, user }: { readonly base: string; readonly user: string }): string {
  return `RCLONE_WEBDAV_PASS=$(rclone obscure -) rclone lsd :webdav: --webdav-url ${shellWord(base)} --webdav-user ${shellWord(user)}`;
}
