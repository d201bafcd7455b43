/** Whether notices for the desktop can be shown there. */
import { desktopAccess, type DesktopFacts } from '../../notify/desktop-access.ts';
import { WITHOUT_DESKTOP } from '../../notify/desktop.ts';
import { type Finding, ok, warning } from './finding.ts';

const CHECK = 'desktop';

/**
 * For settings that have `notices.desktop`.
 * @param ofService whether they are those of the service of Windows, which runs as an account of its own
 * @param facts overrides what the system says
 */
export function checkDesktop(ofService: boolean, facts?: DesktopFacts): Finding {
  const access = ofService ? ({ state: 'service' } as const) : desktopAccess(facts);
  if (access.state === 'ready') return ok(CHECK, `Notices are shown by ${access.program}`);
  const { message, hint } = WITHOUT_DESKTOP[access.state];
  return access.state === 'away' ? ok(CHECK, `${message}. ${hint}`) : warning(CHECK, message, hint);
}
