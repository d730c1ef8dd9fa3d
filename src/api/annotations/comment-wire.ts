import type { Comment } from '../../annotations/index.ts'
import { asSeen } from '../../commits/index.ts'
import type { Directory } from '../../identity/index.ts'
import type { Library } from '../../library/index.ts'
import { baseName, parentOf } from '../../objects/index.ts'
import { avatarUrl } from '../accounts/account-wire.ts'
import { isoTime } from '../common/wire-formats.ts'

/** Comments as the library shows them. */
export async function commentsToWire(
  library: Library,
  comments: readonly Comment[],
  directory: Directory,
  baseUrl: string,
) {
  const people = await directory.people(comments.map(({ author }) => author))
  return comments.flatMap((comment) => {
    const path = asSeen(library.info, comment.path)
    const author = people.get(comment.author)
    if (path === undefined || author === undefined) return []
    return {
      id: comment.id,
      repo_id: library.info.id,
      parent_path: parentOf(path),
      item_name: baseName(path),
      comment: comment.text,
      created_at: isoTime(comment.createdAt),
      updated_at: isoTime(comment.updatedAt),
      resolved: comment.resolved,
      detail: comment.detail,
      // Answers to a comment are comments of their own here.
      replies: [],
      user_email: author.email,
      user_name: author.name,
      user_contact_email: author.contactEmail,
      avatar_url: avatarUrl(baseUrl, author),
    }
  })
}
