/**
 * Returns memory that only the start needed, about 20 MB, to the system; V8 would keep it while the server is idle. It blocks for some
 * hundredths of a second, so it runs before the server announces that it is ready. `bin/node-flags.cjs` exposes the collector.
 */
export function releaseStartupMemory(): void {
  globalThis.gc?.({ type: 'major', execution: 'sync', flavor: 'last-resort' })
}
