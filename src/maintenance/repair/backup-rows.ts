import { idFromBytes } from '../../base/objects/index.ts'
import type { Value } from '../../platform/database/index.ts'
import type { RepairSource } from './repair-parts.ts'

/** A row that a backup has, and the name of the backup. */
interface BackupRow {
  readonly row: Record<string, Value>
  readonly source: string
}

/** The rows of lost objects and commits in backups. Each table of a backup is read once, however much is lost. */
export class BackupRows {
  readonly #rows = new Map<string, BackupRow[]>()

  private constructor(wanted: ReadonlySet<string>) {
    for (const key of wanted) this.#rows.set(key, [])
  }

  /** `wanted`: made by `lostObject` and `lostCommit`. */
  static async read(sources: readonly RepairSource[], wanted: ReadonlySet<string>): Promise<BackupRows> {
    const found = new BackupRows(wanted)
    if (wanted.size === 0) return found
    for (const source of sources) {
      for await (const row of source.records('fs_object')) {
        found.#add(lostObject(Number(row['library_key']), idFromBytes(row['id'] as Uint8Array)), row, source)
      }
      for await (const row of source.records('commit_object')) {
        if (row['seq'] == null) continue
        found.#add(lostCommit(Number(row['library_key']), Number(row['seq'])), row, source)
      }
    }
    return found
  }

  /** In the order of the sources. */
  of(wanted: string): readonly BackupRow[] {
    return this.#rows.get(wanted) ?? []
  }

  #add(key: string, row: Record<string, Value>, { name }: RepairSource): void {
    this.#rows.get(key)?.push({ row, source: name })
  }
}

export function lostObject(libraryKey: number, id: string): string {
  return `${libraryKey} ${id}`
}

export function lostCommit(libraryKey: number, seq: number): string {
  return `${libraryKey} #${seq}`
}
