/** The page's own routes for choosing what to protect, and where to. */
import type { ResourceParts } from '../routes/resource-parts.ts';
import type { ApiApp } from '../framework/route.ts';
import { choosingRoutes } from './choosing-routes.ts';
import { destinationRoutes } from './destination-routes.ts';
import type { ProtectParts } from './protect-parts.ts';
import { secretRoutes } from './secret-routes.ts';

export function protectRoutes(
  app: ApiApp,
  parts: ProtectParts,
  { settingsFile, clock }: Pick<ResourceParts, 'settingsFile' | 'clock'>,
): void {
  choosingRoutes(app, parts);
  destinationRoutes(app, { ...parts, settingsFile, clock });
  secretRoutes(app, parts);
}
