import type { LibraryPath } from '../../base/paths/index.ts'
import { inGroups, type Reader } from '../../platform/database/index.ts'

/** An annotated file at its path in the origin. */
interface AnnotationMatch {
  readonly libraryKey: number
  readonly path: LibraryPath
}

// Limit of one search, so that its memory is bounded.
const MAX_TAGGED = 5000

interface MatchRow {
  library_key: number
  path: string
}

/** The files with a tag of this folded name. */
export async function listTagged(
  reader: Reader,
  libraryKeys: readonly number[],
  folded: string,
): Promise<AnnotationMatch[]> {
  const rows: MatchRow[] = []
  for (const { some, marks } of inGroups(libraryKeys)) {
    const found = await reader.all<MatchRow>(
      `select f.library_key, f.path from library_tag t join file_tag ft on ft.tag_key = t.key
       join annotated_file f on f.key = ft.file_key
       where t.library_key in (${marks}) and t.name_folded = ? and f.missing_since is null order by ft.key desc limit ?`,
      ...some,
      folded,
      MAX_TAGGED,
    )
    rows.push(...found)
  }
  return rows.slice(0, MAX_TAGGED).map(toMatch)
}

function toMatch({ library_key, path }: MatchRow): AnnotationMatch {
  return { libraryKey: library_key, path: path as LibraryPath }
}
