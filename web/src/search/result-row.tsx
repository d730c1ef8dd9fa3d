import { MessageSquare } from 'lucide-react'
import { Link } from 'wouter'
import type { SearchResult } from '../api/index.ts'
import { folderUrl } from '../navigation/index.ts'
import { parentOf } from '../paths.ts'
import { useFormats, useTexts } from '../texts/index.ts'
import { FileIcon } from '../ui/index.ts'
import { Highlighted } from './highlighted.tsx'
import { splitMarked, splitName } from './highlights.ts'
import { addressOf } from './search-box.tsx'

/** One search result: name, location and excerpt. */
export function ResultRow(props: { result: SearchResult; typed: string }) {
  const { result, typed } = props
  const texts = useTexts('search')
  const formats = useFormats()
  const { name, fullpath, is_dir, repo_id, repo_name, size, last_modified, content_highlight, comment } =
    result
  const folder = parentOf(fullpath)
  return (
    <li className="found-row">
      <FileIcon name={name} isDir={is_dir} size={26} />
      <div className="found-text">
        <Link to={addressOf(result)} className="found-name" title={name}>
          <bdi>
            <Highlighted pieces={splitName(name, typed)} />
          </bdi>
        </Link>
        {comment !== undefined ? (
          <figure className="found-comment">
            <figcaption className="muted">
              <MessageSquare size={15} aria-hidden />
              <span>{texts.commentBy(comment.user_name)}</span>
              <time dateTime={comment.created_at} title={formats.moment(comment.created_at)}>
                {formats.when(comment.created_at)}
              </time>
            </figcaption>
            <blockquote>
              <Highlighted pieces={splitMarked(content_highlight)} />
            </blockquote>
          </figure>
        ) : (
          content_highlight !== '' && (
            <p className="found-excerpt">
              <Highlighted pieces={splitMarked(content_highlight)} />
            </p>
          )
        )}
        <p className="found-about">
          <Link to={folderUrl(repo_id, folder)} title={`${repo_name}${folder}`}>
            <bdi>{repo_name}</bdi>
            {folder !== '/' && <bdi>{folder}</bdi>}
          </Link>
          {!is_dir && <span>{formats.size(size)}</span>}
          <time dateTime={new Date(last_modified * 1000).toISOString()} title={formats.moment(last_modified)}>
            {formats.when(last_modified)}
          </time>
        </p>
      </div>
    </li>
  )
}
