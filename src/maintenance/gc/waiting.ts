import { condemnedBlocks } from '../../libraries/content/index.ts'
import type { Reader } from '../../platform/database/index.ts'
import { MAX_BLOCK_GRACE_SECONDS } from './collect-blocks.ts'
import { findCollected } from './collection-store.ts'
import { OperationLeases } from './operation-leases.ts'

/** Why something of a library is not freed yet. Times are Unix seconds. */
export interface WaitingOfLibrary {
  /** Blocks that nothing refers to, since when, and when they are freed if nothing holds them. */
  readonly condemned: { bytes: number; blocks: number; since: number; goesAt: number } | undefined
  /** History beyond its limit, and when its commits are deleted. What only they refer to is condemned then. */
  readonly givenUp: { at: number; goesAt: number } | undefined
  /** Leases of running operations. Data condemned after an operation began is kept until its lease ends. */
  readonly leases: readonly { purpose: string; pid: string; host: string; since: number; bytes: number }[]
}

/** What garbage collection knows about a library, for an operator who asks why its data is not freed. */
export async function explainWaiting(
  reader: Reader,
  libraryKey: number,
  { now, graceSeconds }: { readonly now: number; readonly graceSeconds: number },
): Promise<WaitingOfLibrary> {
  const condemned = await condemnedBlocks.summarizeReferences(reader, libraryKey)
  const collected = await findCollected(reader, libraryKey)
  const leases = []
  for (const lease of await OperationLeases.list(reader, now)) {
    const held = await condemnedBlocks.summarizeReferences(reader, libraryKey, lease.since)
    leases.push({ ...lease, bytes: held?.bytes ?? 0 })
  }
  // The reference waits for the grace period. The bytes wait again, and once more in the removal folder.
  const blockGrace = 2 * Math.min(graceSeconds, MAX_BLOCK_GRACE_SECONDS)
  return {
    condemned: condemned && {
      bytes: condemned.bytes,
      blocks: condemned.blocks,
      since: condemned.since,
      goesAt: condemned.latestAt + graceSeconds + blockGrace,
    },
    givenUp:
      collected === undefined || collected.isCut
        ? undefined
        : { at: collected.cutAt, goesAt: collected.cutAt + graceSeconds },
    leases,
  }
}
