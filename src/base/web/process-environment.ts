/**
 * The variables of the process itself, for settings that apply to all of it: the proxy, trusted certificates, and what
 * libraries read from the environment themselves.
 */
export const processEnvironment: Readonly<Record<string, string | undefined>> = process.env;
