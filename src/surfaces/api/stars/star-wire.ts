import type { Dirent } from '../../../base/objects/index.ts'
import { baseName, type LibraryPath, ROOT, withSlash } from '../../../base/paths/index.ts'
import type { Library } from '../../../libraries/library/index.ts'
import type { Person } from '../../../people/accounts/index.ts'
import { isoTime, relativeTime } from '../common/wire-formats.ts'

/** A starred path, and its entry if it still exists. */
export interface Starred {
  readonly library: Library
  readonly path: LibraryPath
  readonly isDir: boolean
  readonly entry: Dirent | undefined
}

/** A starred library, folder or file. */
export function starredItemToWire({ library, path, isDir, entry }: Starred, person: Person) {
  const { info } = library
  const isLibrary = path === ROOT
  const mtime = isLibrary ? info.updatedAt : entry?.mtime
  return {
    repo_id: info.id,
    repo_name: info.name,
    repo_encrypted: info.encryption !== undefined,
    is_dir: isDir,
    path: isDir ? withSlash(path) : path,
    obj_name: isLibrary ? info.name : (entry?.name ?? baseName(path)),
    mtime: mtime === undefined ? '' : isoTime(mtime),
    deleted: mtime === undefined,
    user_email: person.email,
    user_name: person.name,
    user_contact_email: person.contactEmail,
  }
}

/** A starred file in `/api2/starredfiles/`. */
export function starredFileToWire(library: Library, path: LibraryPath, entry: Dirent, now: number) {
  const { info } = library
  return {
    org: -1,
    repo: info.id,
    repo_id: info.id,
    repo_name: info.name,
    repo_encrypted: info.encryption !== undefined,
    path,
    file_name: entry.name,
    icon_path: 'file.png',
    mtime: entry.mtime,
    mtime_relative: relativeTime(entry.mtime, now),
    dir: false,
    oid: entry.id,
    size: entry.size,
  }
}
