import type { LibraryId } from '../../../base/objects/index.ts'
import type { FileTag, Tag } from '../../../derived/annotations/index.ts'

export function tagToWire(libraryId: LibraryId, { id, name, color }: Tag) {
  return { repo_tag_id: id, repo_id: libraryId, tag_name: name, tag_color: color }
}

export function fileTagToWire({ id, tag }: FileTag) {
  return { file_tag_id: id, repo_tag_id: tag.id, tag_name: tag.name, tag_color: tag.color }
}
