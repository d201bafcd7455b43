/**
 * The variables of the process itself, for what holds for all of it: the proxy, whom it trusts, and what libraries read
 * there by themselves.
 */
export const processEnvironment: Readonly<Record<string, string | undefined>> = process.env;
