import { ChevronRight, Library, LockKeyhole } from 'lucide-react'
import { useEffect, useRef, useState } from 'react'
import { type LibraryItem, useLibrary } from '../api/index.ts'
import { join } from '../paths.ts'
import { useFormats, useTexts } from '../texts/index.ts'
import { FileIcon, forwardKey, useErrorMessage } from '../ui/index.ts'
import type { Place } from './folder-picker.tsx'
import { moveInTree, useSubfolders } from './tree-parts.ts'

const MAX_AT_ONCE = 200

export const keyOf = (libraryId: string, path: string) => `${libraryId} ${path}`

interface TreeProps {
  readonly opened: ReadonlySet<string>
  readonly setOpen: (key: string, open: boolean) => void
  readonly place: Place | undefined
  readonly onPlace: (place: Place) => void
  readonly onEnter: () => void
}

/** Tree of libraries and folders. The children of a folder are loaded when it is expanded. */
export function FolderTree(props: TreeProps & { libraries: readonly LibraryItem[] }) {
  const { libraries, place } = props
  const texts = useTexts('files')
  const tree = useRef<HTMLDivElement>(null)
  useEffect(() => tree.current?.querySelector<HTMLElement>('[tabindex="0"]')?.focus(), [])
  const isKnown = libraries.some(({ repo_id }) => repo_id === place?.libraryId)
  return (
    <div ref={tree} className="picker-tree" role="tree" aria-label={texts.choosePlace} onKeyDown={moveInTree}>
      {libraries.map((library, index) => (
        <TreeItem
          key={library.repo_id}
          {...props}
          at={{ libraryId: library.repo_id, libraryName: library.repo_name, path: '/' }}
          name={library.repo_name}
          level={1}
          encrypted={library.encrypted}
          isEntrance={!isKnown && index === 0}
        />
      ))}
    </div>
  )
}

interface ItemProps extends TreeProps {
  readonly at: Place
  readonly name: string
  readonly level: number
  readonly encrypted?: boolean
  /** Receives the focus while nothing is selected. */
  readonly isEntrance?: boolean
}

function TreeItem(props: ItemProps) {
  const { at, name, level, encrypted = false, opened, setOpen, place, onPlace } = props
  const row = useRef<HTMLDivElement>(null)
  const key = keyOf(at.libraryId, at.path)
  const isOpen = opened.has(key)
  const isChosen = place?.libraryId === at.libraryId && place.path === at.path
  useEffect(() => {
    if (isChosen) row.current?.scrollIntoView({ block: 'nearest' })
  }, [isChosen])
  return (
    <>
      <div
        ref={row}
        role="treeitem"
        aria-level={level}
        aria-expanded={isOpen}
        aria-selected={isChosen}
        tabIndex={isChosen || props.isEntrance ? 0 : -1}
        className="picker-item"
        style={{ paddingInlineStart: 4 + (level - 1) * 20 }}
        // Not for the focus of the button in it.
        onFocus={({ target, currentTarget }) => target === currentTarget && !isChosen && onPlace(at)}
        onClick={() => row.current?.focus()}
        onDoubleClick={() => setOpen(key, !isOpen)}
        onKeyDown={(event) => {
          const pressed = forwardKey(event.key)
          if (pressed === 'Enter') props.onEnter()
          else if (pressed === 'ArrowRight' && !isOpen) setOpen(key, true)
          else if (pressed === 'ArrowLeft' && isOpen) setOpen(key, false)
          else return
          event.preventDefault()
          event.stopPropagation()
        }}
      >
        <button
          type="button"
          className="icon-button picker-toggle"
          tabIndex={-1}
          aria-hidden
          onClick={() => setOpen(key, !isOpen)}
          onDoubleClick={(event) => event.stopPropagation()}
        >
          <ChevronRight size={16} aria-hidden />
        </button>
        {level > 1 ? <FileIcon name={name} isDir size={20} /> : <Library size={20} aria-hidden />}
        <bdi className="picker-name" title={name}>
          {name}
        </bdi>
        {encrypted && <LockKeyhole size={15} aria-hidden className="muted" />}
      </div>
      {isOpen && (encrypted && level === 1 ? <LockedBranch {...props} /> : <Branch {...props} />)}
    </>
  )
}

/** An encrypted library is not listed before it is unlocked. */
function LockedBranch(props: ItemProps) {
  const { data } = useLibrary(props.at.libraryId)
  return data === undefined || data.lib_need_decrypt ? null : <Branch {...props} />
}

function Branch(props: ItemProps) {
  const { at, level } = props
  const texts = useTexts('files')
  const common = useTexts('common')
  const formats = useFormats()
  const wording = useErrorMessage()
  const [most, setMost] = useState(MAX_AT_ONCE)
  const { data, error } = useSubfolders(at.libraryId, at.path)
  const indent = { paddingInlineStart: 36 + level * 20 }
  if (data === undefined) {
    return (
      <div className="picker-note muted" style={indent}>
        {error ? wording(error) : common.loading}
      </div>
    )
  }
  if (data.length === 0) {
    return (
      <div className="picker-note muted" style={indent}>
        {texts.noFolders}
      </div>
    )
  }
  return (
    <>
      {/* biome-ignore lint/a11y/useSemanticElements: a part of a tree, not of a form. */}
      <div role="group">
        {data.slice(0, most).map(({ name }) => (
          <TreeItem
            key={name}
            {...props}
            encrypted={false}
            isEntrance={false}
            at={{ ...at, path: join(at.path, name) }}
            name={name}
            level={level + 1}
          />
        ))}
      </div>
      {data.length > most && (
        <button
          type="button"
          className="button button-quiet"
          style={indent}
          onClick={() => setMost(most + MAX_AT_ONCE)}
        >
          {texts.moreFolders(formats.number(data.length - most))}
        </button>
      )}
    </>
  )
}
