import type { LibraryCore } from '../../libraries/library/index.ts'
import type { Database } from '../../platform/database/index.ts'
import type { Tickets } from '../../sharing/access/index.ts'

export interface ArchivesOptions {
  readonly core: LibraryCore
  readonly db: Database
  readonly tickets: Tickets
  /** Unix seconds. */
  readonly now: () => number
  /** How long tickets live. */
  readonly lifeSeconds: number
  /** Bytes the files of an archive may have together; undefined for no limit. */
  readonly limit: number | undefined
  /** Bytes all archives may take together; undefined for no limit. */
  readonly space?: number | undefined
  /** The folder of the archives, used for nothing else. */
  readonly directory: string
  /** This node. */
  readonly node: { readonly id: string }
  /** Seals tickets with the secret of the server, so that a node that takes an archive over can report to their holders. */
  readonly sealing: {
    seal(text: string, boundTo: string): Uint8Array
    open(sealed: Uint8Array, boundTo: string): string | undefined
  }
  /** Whether other nodes may be asked for a finished archive. Its bytes are then stored as blocks instead of in a file of this node. */
  readonly isShared?: () => Promise<boolean>
  /** Notified of the progress of archives, by the account and the ticket they are for. */
  readonly onProgress?: (
    accountKey: number,
    ticket: string,
    progress: {
      readonly state: 'queued' | 'running' | 'successful' | 'failed' | 'canceled'
      readonly zipped: number
      readonly total: number
      /** The ticket opens the bytes of an encrypted library, so it must not be stored anywhere. */
      readonly isEncrypted: boolean
    },
  ) => void
  /** Whether an error says nothing about the archive, because a store could not be asked or its answer is not known. */
  readonly isPassing: (error: unknown) => boolean
  /** Called when an archive fails, or its file cannot be removed. */
  readonly onError: (error: unknown) => void
}

export type ReportedState = Parameters<NonNullable<ArchivesOptions['onProgress']>>[2]['state']
