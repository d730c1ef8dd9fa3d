/**
 * V8 collects its whole heap, on all cores, when memory outside of it (buffers) outgrows the heap, which costs a large
 * upload a third of its time. Those buffers are already garbage: collecting the young generation frees them.
 */
const INTERVAL_BYTES = 6 * 2 ** 20

let allocated = 0

/** Counts bytes of new buffers, and collects the young generation once per 6 MiB. */
export function countAllocated(bytes: number): void {
  allocated += bytes
  if (allocated < INTERVAL_BYTES) return
  allocated = 0
  // Only with --expose-gc, which bin/node-flags.cjs sets.
  globalThis.gc?.({ type: 'minor' })
}
