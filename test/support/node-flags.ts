/**
 * For every Node process that runs the TypeScript sources as they are. Node strips types with WebAssembly, and V8 13.6
 * frees a compiled import wrapper that another thread still uses when both reach the call count that makes it compile
 * one: the process dies in WasmImportWrapperCache::Free. A count that is never reached keeps that from happening. The
 * built program strips nothing.
 */
export const SOURCE_FLAGS: readonly string[] = ['--no-warnings', '--wasm-wrapper-tiering-budget=1000000000'];
