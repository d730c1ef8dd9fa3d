import type { FileTag } from '../api/index.ts'
import { safeColor } from './tag-colors.ts'

const MAX_DOTS = 4

/** The tags of a file as coloured dots. Their names are the label. */
export function TagDots(props: { tags: readonly FileTag[] | undefined }) {
  const { tags } = props
  if (tags === undefined || tags.length === 0) return null
  const names = tags.map(({ tag_name }) => tag_name).join(', ')
  return (
    <span className="files-sign tag-dots" role="img" aria-label={names} title={names}>
      {tags.slice(0, MAX_DOTS).map((tag) => (
        <span key={tag.file_tag_id} className="tag-dot" style={{ background: safeColor(tag.tag_color) }} />
      ))}
    </span>
  )
}
