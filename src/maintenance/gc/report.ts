import type { LibraryId } from '../../base/objects/index.ts'
import type { Marked } from './mark.ts'

/** Numbers of rows and bytes of one collection, or of one library in it. A dry run counts what would happen. */
export interface GcFigures {
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
export interface GcLibraryReport extends GcFigures {
  readonly id: LibraryId
  readonly name: string
  /** Why something is not freed yet, in plain sentences. */
  readonly reasons: readonly string[]
}

/** What a collection could not do. Everything else was collected. */
export interface GcFailure {
  /** The library of which nothing was deleted; null if block files could not be moved or deleted. */
  readonly library: LibraryId | null
  /** One sentence that names the library. */
  readonly message: string
}

/** The result of a collection. */
export interface GcReport extends GcFigures {
  readonly dryRun: boolean
  /** Unix seconds. */
  readonly beganAt: number
  readonly durationMs: number
  readonly libraries: readonly GcLibraryReport[]
  /** Empty if everything was collected. */
  readonly failures: readonly GcFailure[]
}

/** Whether a collection runs anywhere, and the figures of the last complete one. */
export interface GcState {
  /** Also if the process of the newest collection was killed, until the next one. */
  readonly running: boolean
  /** Of the running one, else of the last one. Unix seconds; undefined before the first collection. */
  readonly lastBeganAt: number | undefined
  readonly lastEndedAt: number | undefined
  /** Of the last complete one, in seconds. */
  readonly lastDuration: number | undefined
  readonly lastFailure: string | undefined
  /** Sums since the process started. */
  readonly deletedBlocks: number
  readonly freedBytes: number
  /** Bytes of blocks that are condemned and not deleted yet, as of the last collection. */
  readonly waitingBytes: number
}

/** Figures that grow during a collection. */
export class Figures {
  readonly condemned = { objects: 0, references: 0, blocks: 0 }
  readonly released = { objects: 0, references: 0, blocks: 0 }
  readonly deleted = { commits: 0, objects: 0, references: 0, blocks: 0 }
  freedBytes = 0
  waitingBytes = 0

  add({ condemned, released, deleted, freedBytes, waitingBytes }: GcFigures): void {
    for (const kind of ['objects', 'references', 'blocks'] as const) {
      this.condemned[kind] += condemned[kind]
      this.released[kind] += released[kind]
      this.deleted[kind] += deleted[kind]
    }
    this.deleted.commits += deleted.commits
    this.freedBytes += freedBytes
    this.waitingBytes += waitingBytes
  }

  /** What a dry run found. */
  addMarked(marked: Marked): void {
    this.condemned.objects += marked.unreachable.length / ID_BYTES
    this.condemned.references += marked.unreachableReferences.length / ID_BYTES
    this.released.objects += marked.released.length / ID_BYTES
    this.released.references += marked.releasedReferences.length / ID_BYTES
    this.deleted.objects += marked.deletable.length / ID_BYTES
    this.deleted.references += marked.deletableReferences.length / ID_BYTES
  }

  values(): GcFigures {
    const { condemned, released, deleted, freedBytes, waitingBytes } = this
    return { condemned, released, deleted, freedBytes, waitingBytes }
  }
}

const ID_BYTES = 20
