import type { LibraryId } from '../objects/index.ts'

/** Numbers of rows and bytes of one collection, or of one library in it. A dry run counts what would happen. */
interface GcFigures {
  /** Newly condemned: dirs and files, references of libraries to blocks, blocks that no library holds. */
  readonly condemned: { readonly objects: number; readonly references: number; readonly blocks: number }
  /** Condemned earlier, and in use again. */
  readonly released: { readonly objects: number; readonly references: number; readonly blocks: number }
  readonly deleted: {
    readonly commits: number
    readonly objects: number
    readonly references: number
    readonly blocks: number
  }
  /** Bytes of deleted blocks. */
  readonly freedBytes: number
  /** Bytes of blocks that are condemned and not deleted yet. */
  readonly waitingBytes: number
}

/** What a collection found in one library. */
interface GcLibraryReport extends GcFigures {
  readonly id: LibraryId
  readonly name: string
  /** Why something is not freed yet, in plain sentences. */
  readonly reasons: readonly string[]
}

/** The result of a collection. */
export interface GcReport extends GcFigures {
  readonly dryRun: boolean
  /** Unix seconds. */
  readonly beganAt: number
  readonly durationMs: number
  readonly libraries: readonly GcLibraryReport[]
}

/** What the collector does now, and the figures of its last complete collection. */
export interface GcState {
  readonly running: boolean
  /** Unix seconds; undefined before the first collection. */
  readonly lastBeganAt: number | undefined
  readonly lastEndedAt: number | undefined
  readonly lastFailure: string | undefined
  /** Sums since the process started. */
  readonly deletedBlocks: number
  readonly freedBytes: number
  /** Bytes of blocks that are condemned and not deleted yet, as of the last collection. */
  readonly waitingBytes: number
}

export const nothing: GcFigures = {
  condemned: { objects: 0, references: 0, blocks: 0 },
  released: { objects: 0, references: 0, blocks: 0 },
  deleted: { commits: 0, objects: 0, references: 0, blocks: 0 },
  freedBytes: 0,
  waitingBytes: 0,
}
