/** A server that cannot be had here: its tests are skipped, and say why. */
export class ServerUnavailable extends Error {
  override readonly name = 'ServerUnavailable';
}

/**
 * What starts, or why it does not. Every other failure is one of the test; with HOLDFAST_REQUIRE_SERVERS=1 this one too, so
 * that a run which was to test all of them cannot pass without.
 */
export async function startOrSkip<Server>(
  start: () => Promise<Server>,
): Promise<{ readonly server: Server } | { readonly missing: string }> {
  try {
    return { server: await start() };
  } catch (error) {
    const isRequired = process.env['HOLDFAST_REQUIRE_SERVERS'] === '1';
    if (error instanceof ServerUnavailable && !isRequired) return { missing: error.message };
    throw error;
  }
}
