import type { Fault } from '../../../base/errors.ts'
import { baseName, parentOf, withSlash } from '../../../base/paths/index.ts'
import type { TrashCursor, TrashPage, TrashRow } from '../../../libraries/history/index.ts'
import type { FaultResponse } from '../../../platform/http/index.ts'
import { isoTime } from '../common/wire-formats.ts'
import { apiFaults } from '../faults.ts'

/** A page of the trash. */
export function trashPage({ items, next }: TrashPage) {
  return {
    data: items.map((item) => ({ ...trashItem(item), scan_stat: null })),
    more: next !== undefined,
    scan_stat: next === undefined ? null : cursorText(next),
  }
}

/** A deleted entry. */
export function trashItem(row: TrashRow) {
  return {
    parent_dir: withSlash(parentOf(row.path)),
    obj_name: baseName(row.path),
    deleted_time: isoTime(row.deletedAt),
    commit_id: row.commitBefore,
    is_dir: row.isDir,
    size: row.isDir ? 0 : row.size,
    obj_id: row.isDir ? '' : row.objectId,
  }
}

function cursorText({ seq, position }: TrashCursor): string {
  return `${seq}-${position}`
}

/** The cursor of an earlier page; undefined if malformed. */
export function parseTrashCursor(text: string): TrashCursor | undefined {
  const [, seq, position] = /^(\d{1,15})-(\d{1,15})$/.exec(text) ?? []
  return seq === undefined ? undefined : { seq: Number(seq), position: Number(position) }
}

/** Why an entry was not restored. An unknown commit has nothing to restore. */
export function restoreFailure(fault: Fault, path: string): string {
  const isMissing = fault.code === 'path-not-found' && fault.wanted === 'Item'
  if (isMissing || fault.code === 'commit-not-found') return `Dirent ${path} not found.`
  // The entry under a fault's code accepts only that fault. The compiler cannot infer this through a union.
  const word = apiFaults[fault.code] as (fault: Fault) => FaultResponse
  return word(fault)[1]
}
