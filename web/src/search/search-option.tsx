import { Search } from 'lucide-react'
import { useEffect, useRef } from 'react'
import type { SearchResult } from '../api/index.ts'
import { parentOf } from '../paths.ts'
import { useTexts } from '../texts/index.ts'
import { FileIcon } from '../ui/index.ts'
import { Highlighted } from './highlighted.tsx'
import { splitMarked, splitName } from './highlights.ts'

/** One suggestion, or the link to all results. */
export function SearchOption(props: {
  id: string
  isActive: boolean
  onPick: () => void
  typed: string
  result?: SearchResult
  label?: string
}) {
  const { result, label, typed } = props
  const line = useRef<HTMLDivElement>(null)
  useEffect(() => {
    if (props.isActive) line.current?.scrollIntoView({ block: 'nearest' })
  }, [props.isActive])
  return (
    // The field keeps the focus and handles the keys; options only react to the pointer.
    // oxlint-disable-next-line jsx-a11y/click-events-have-key-events
    <div
      ref={line}
      id={props.id}
      role="option"
      tabIndex={-1}
      aria-selected={props.isActive}
      className="search-option"
      onMouseDown={(event) => event.preventDefault()}
      onClick={props.onPick}
    >
      {result ? <FoundLine result={result} typed={typed} /> : <AllLine label={label ?? ''} typed={typed} />}
    </div>
  )
}

function FoundLine({ result, typed }: { result: SearchResult; typed: string }) {
  const { name, fullpath, is_dir, repo_name, content_highlight: excerpt, comment } = result
  const texts = useTexts('search')
  const folder = parentOf(fullpath)
  return (
    <>
      <FileIcon name={name} isDir={is_dir} size={20} />
      <span className="search-option-text">
        <span className="search-option-name" title={name}>
          <bdi>
            <Highlighted pieces={splitName(name, typed)} />
          </bdi>
        </span>
        {excerpt !== '' && (
          <span className="search-option-about">
            {comment && `${texts.commentBy(comment.user_name)} · `}
            <Highlighted pieces={splitMarked(excerpt)} />
          </span>
        )}
        <span className="search-option-about">
          <bdi>{repo_name}</bdi>
          {folder !== '/' && <bdi>{folder}</bdi>}
        </span>
      </span>
    </>
  )
}

function AllLine({ label, typed }: { label: string; typed: string }) {
  return (
    <>
      <Search size={18} aria-hidden className="file-icon" />
      <span className="search-option-name">
        {label} <bdi className="search-typed">{typed}</bdi>
      </span>
    </>
  )
}
