/** The address of the folder of snapshots in the forms that different programs need. */
import { shellWord } from '../../components/shell-word.ts';

/** GNOME uses the scheme `dav:` for WebDAV over HTTP, KDE `webdav:`. */
export function desktopAddress(address: string, scheme: 'dav' | 'webdav'): string {
  return address.replace(/^http/, scheme);
}

/** Lists the folder. rclone asks for the password, so that it does not appear in a list of processes. */
export function rcloneLine({ base, user }: { readonly base: string; readonly user: string }): string {
  return `RCLONE_WEBDAV_PASS=$(rclone obscure -) rclone lsd :webdav: --webdav-url ${shellWord(base)} --webdav-user ${shellWord(user)}`;
}
