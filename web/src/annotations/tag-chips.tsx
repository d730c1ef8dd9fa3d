import type { FileTag } from '../api/index.ts'
import { safeColor } from './tag-colors.ts'

const MAX_CHIPS = 2

/** The tags of a file in a list: the first two by name, and the number of the others. All names are the label. */
export function TagChips(props: { tags: readonly FileTag[] | undefined }) {
  const { tags } = props
  if (tags === undefined || tags.length === 0) return null
  const names = tags.map(({ tag_name }) => tag_name).join(', ')
  return (
    <span className="files-sign row-tags" role="img" aria-label={names} title={names}>
      {tags.slice(0, MAX_CHIPS).map((tag) => (
        <span key={tag.file_tag_id} className="row-tag">
          <span className="tag-dot" style={{ background: safeColor(tag.tag_color) }} />
          <bdi>{tag.tag_name}</bdi>
        </span>
      ))}
      {tags.length > MAX_CHIPS && <span className="row-tags-more">+{tags.length - MAX_CHIPS}</span>}
    </span>
  )
}
