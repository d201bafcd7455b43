/** A server that cannot be had here: its tests are skipped, and say why. */
export class ServerUnavailable extends Error {
  override readonly name = 'ServerUnavailable';
}

/** What starts, or why it does not. Every other failure is one of the test. */
export async function startOrSkip<Server>(
  start: () => Promise<Server>,
): Promise<{ readonly server: Server } | { readonly missing: string }> {
  try {
    return { server: await start() };
  } catch (error) {
    if (error instanceof ServerUnavailable) return { missing: error.message };
    throw error;
  }
}
