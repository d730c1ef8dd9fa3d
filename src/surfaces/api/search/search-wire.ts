import { type Found, isImage } from '../../../derived/search/index.ts'
import { type Person, unknownPerson } from '../../../people/accounts/index.ts'
import { encodePath, isoTime } from '../common/wire-formats.ts'
import type { FoundAnnotated } from './annotation-results.ts'

const THUMBNAIL_SIZE = 72

interface ResultOptions {
  /** Authors of comments, by e-mail. */
  readonly authors: ReadonlyMap<string, Person>
  /** Whether a single library was searched. */
  readonly inOneLibrary: boolean
  readonly withPermission: boolean
  readonly baseUrl: string
}

/** A search result of `GET /api2/search/`. */
export function searchResultToWire(found: FoundAnnotated, owner: Person | undefined, options: ResultOptions) {
  const { in: place, path, name } = found
  const person = owner ?? unknownPerson('')
  const thumbnail = `${options.baseUrl}/api2/repos/${place.id}/thumbnail/?p=${encodePath(path)}&size=${THUMBNAIL_SIZE}`
  return {
    repo_id: place.id,
    repo_name: place.name,
    name,
    fullpath: path,
    oid: found.id,
    is_dir: found.isDir,
    size: found.size,
    last_modified: found.mtime,
    content_highlight: found.highlight,
    repo_encrypted: place.encrypted,
    repo_type: options.inOneLibrary ? '' : place.via,
    repo_owner_email: person.email,
    repo_owner_name: person.name,
    repo_owner_contact_email: person.contactEmail,
    ...(options.withPermission && { permission: place.permission }),
    ...(found.comment !== undefined && { comment: commentToWire(found.comment, options.authors) }),
    thumbnail_url: !found.isDir && !place.encrypted && isImage(name) ? thumbnail : '',
  }
}

/** The comment that matches. Its text is the excerpt. */
function commentToWire(
  { id, author, createdAt }: NonNullable<FoundAnnotated['comment']>,
  authors: ReadonlyMap<string, Person>,
) {
  const { email, name } = authors.get(author) ?? unknownPerson(author)
  return { id, user_email: email, user_name: name, created_at: isoTime(createdAt) }
}

/** A search result of `GET /api/v2.1/search-file/`. */
export function foundNameToWire({ path, size, mtime, isDir }: Found) {
  return { path, size, mtime: isoTime(mtime), type: isDir ? 'folder' : 'file' }
}
