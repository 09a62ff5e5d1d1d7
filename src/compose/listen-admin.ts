// The admin listener of a gateway: in the process itself, or in the primary one of several.
import { createAdminApp } from '../server/admin/create-admin-app.ts';
import { type AdminContext, createAdminActions } from './admin-actions.ts';
import type { Releases } from './releases.ts';

/** @returns its port, which the system gave where the configuration says 0 */
export async function listenAdmin(context: AdminContext, releases: Releases): Promise<number> {
  const app = createAdminApp(createAdminActions(context));
  releases.add(async () => await app.close());
  await app.listen(context.runtime().config.settings.admin.listen);
  const address = app.server.address();
  return typeof address === 'object' && address !== null ? address.port : 0;
}
