/**
 * Returns about 20 MB that only the start needed to the system. V8 would keep them while the server is idle. The collection blocks
 * for tens of milliseconds, so it runs before the server reports ready. `bin/node-flags.cjs` exposes `gc`.
 */
export function releaseStartupMemory(): void {
  globalThis.gc?.({ type: 'major', execution: 'sync', flavor: 'last-resort' })
}
