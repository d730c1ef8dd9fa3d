/**
 * Interval of major collections. The rows of a batch live for seconds, so they are promoted to the old generation before they are garbage. V8 collects that
 * generation late, when its size is a multiple of the live bytes: over 200,000 files, 130 MB of garbage accumulated. A major collection takes less than
 * 0.1 s, a batch several seconds.
 */
const INTERVAL_ROWS = 16_000
const INTERVAL_BYTES = 64 * 2 ** 20

let rows = 0
let bytes = 0

/** Counts flushed rows and bytes, which are garbage, and starts a major collection at the interval. Counters are shared by all libraries, because most are small. */
export function countWritten(writtenRows: number, writtenBytes: number): void {
  rows += writtenRows
  bytes += writtenBytes
  if (rows < INTERVAL_ROWS && bytes < INTERVAL_BYTES) return
  rows = 0
  bytes = 0
  // Only with --expose-gc, which bin/node-flags.cjs sets.
  globalThis.gc?.({ type: 'major' })
}
