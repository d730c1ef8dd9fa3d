import { Link } from 'wouter'
import { folderAddress } from '../addresses.ts'
import type { SearchResult } from '../api/search-wire.ts'
import { useFormats } from '../format.ts'
import { parentOf } from '../paths.ts'
import { FileIcon } from '../ui/file-icon.tsx'
import { Marked } from './marked.tsx'
import { piecesOfMarked, piecesOfName } from './marks.ts'
import { addressOf } from './search-box.tsx'

/** One of what was found: what it is, where it is, and the place in its text. */
export function FoundRow(props: { result: SearchResult; typed: string }) {
  const { result, typed } = props
  const formats = useFormats()
  const { name, fullpath, is_dir, repo_id, repo_name, size, last_modified, content_highlight } = result
  const folder = parentOf(fullpath)
  return (
    <li className="found-row">
      <FileIcon name={name} isDir={is_dir} size={26} />
      <div className="found-text">
        <Link to={addressOf(result)} className="found-name" title={name}>
          <bdi>
            <Marked pieces={piecesOfName(name, typed)} />
          </bdi>
        </Link>
        {content_highlight !== '' && (
          <p className="found-excerpt">
            <Marked pieces={piecesOfMarked(content_highlight)} />
          </p>
        )}
        <p className="found-about">
          <Link to={folderAddress(repo_id, folder)} title={`${repo_name}${folder}`}>
            <bdi>{repo_name}</bdi>
            {folder !== '/' && <bdi>{folder}</bdi>}
          </Link>
          {!is_dir && <span>{formats.size(size)}</span>}
          <time dateTime={new Date(last_modified * 1000).toISOString()} title={formats.moment(last_modified)}>
            {formats.ago(last_modified)}
          </time>
        </p>
      </div>
    </li>
  )
}
