import './library-tree.css'
import { Book, BookLock, ChevronRight } from 'lucide-react'
import { type DragEvent, type MouseEvent, useRef, useState } from 'react'
import { Link, useLocation } from 'wouter'
import { canEdit, type LibraryItem, useLibraries, useLibrary } from '../api/index.ts'
import { folderUrl, useQueryParams } from '../navigation/index.ts'
import { join, normalizePath } from '../paths.ts'
import { useLanguage, useTexts } from '../texts/index.ts'
import { FileIcon, forwardKey, useFailureToast } from '../ui/index.ts'
import { useFileDropPlace } from '../uploads/index.ts'
import { bothHandlers, useDropPlace } from './drag-and-drop.ts'
import { moveInTree, useSubfolders } from './tree-parts.ts'
import { useTransfer } from './use-transfer.ts'

const MAX_LIBRARIES = 60
const MAX_FOLDERS = 100
/** A drag that rests on a collapsed folder expands it. */
const EXPAND_MS = 700

/** The libraries and their folders in the side menu. Entries and files can be dropped on them. */
export function LibraryTree() {
  const texts = useTexts('files')
  const { language } = useLanguage()
  const { data } = useLibraries()
  const [location] = useLocation()
  const path = normalizePath(useQueryParams().get('p') ?? '/')
  const shown = location.startsWith('/library/') ? keyOf(location.slice('/library/'.length), path) : ''
  const [open, setOpen] = useState<ReadonlySet<string>>(new Set())
  const libraries = distinct(data ?? [], language)
  if (libraries.length === 0) return null
  const toggle = (key: string, isOpen: boolean) =>
    setOpen((keys) => new Set(isOpen ? [...keys, key] : [...keys].filter((one) => one !== key)))
  return (
    <div className="library-tree" role="tree" aria-label={texts.libraries} onKeyDown={moveInTree}>
      {libraries.slice(0, MAX_LIBRARIES).map((library, index) => (
        <Item
          key={library.repo_id}
          library={library}
          path="/"
          name={library.repo_name}
          level={1}
          tree={{ open, toggle, shown }}
          isEntrance={index === 0}
        />
      ))}
    </div>
  )
}

const keyOf = (libraryId: string, path: string) => `${libraryId} ${path}`

/** Own libraries first. A library may reach the user in several ways, and is listed once. */
function distinct(libraries: readonly LibraryItem[], language: string): readonly LibraryItem[] {
  const collator = new Intl.Collator(language, { numeric: true })
  const own = (library: LibraryItem) => (library.type === 'mine' ? 0 : 1)
  const ordered = libraries.toSorted((a, b) => own(a) - own(b) || collator.compare(a.repo_name, b.repo_name))
  return [...new Map(ordered.toReversed().map((library) => [library.repo_id, library])).values()].toReversed()
}

interface ItemProps {
  readonly library: LibraryItem
  readonly path: string
  readonly name: string
  readonly level: number
  readonly isEntrance: boolean
  readonly tree: {
    readonly open: ReadonlySet<string>
    readonly toggle: (key: string, isOpen: boolean) => void
    readonly shown: string
  }
}

function Item(props: ItemProps) {
  const { library, path, name, level, tree } = props
  const key = keyOf(library.repo_id, path)
  const isOpen = tree.open.has(key)
  const isShown = tree.shown === key
  const drop = useDrops(library, path, () => tree.toggle(key, true))
  const toggle = (event: MouseEvent) => {
    event.preventDefault()
    event.stopPropagation()
    tree.toggle(key, !isOpen)
  }
  const Icon = library.encrypted ? BookLock : Book
  return (
    <>
      <Link
        to={folderUrl(library.repo_id, path)}
        role="treeitem"
        aria-level={level}
        aria-expanded={isOpen}
        aria-selected={isShown}
        tabIndex={isShown || (props.isEntrance && !tree.shown) ? 0 : -1}
        className={`library-tree-item${drop.over ? ' library-tree-drop' : ''}`}
        style={{ paddingInlineStart: 4 + (level - 1) * 14 }}
        title={name}
        draggable={false}
        onKeyDown={(event) => {
          const pressed = forwardKey(event.key)
          if (pressed === 'ArrowRight' && !isOpen) tree.toggle(key, true)
          else if (pressed === 'ArrowLeft' && isOpen) tree.toggle(key, false)
          else return
          event.preventDefault()
          event.stopPropagation()
        }}
        {...drop.handlers}
      >
        {/* biome-ignore lint/a11y/noStaticElementInteractions lint/a11y/useKeyWithClickEvents: the arrow keys of the tree do the same. */}
        <span className="library-tree-toggle" aria-hidden onClick={toggle}>
          <ChevronRight size={15} />
        </span>
        {level === 1 ? (
          <Icon size={18} strokeWidth={1.7} aria-hidden />
        ) : (
          <FileIcon name={name} isDir size={18} />
        )}
        <bdi>{name}</bdi>
      </Link>
      {isOpen && (library.encrypted ? <LockedFolders {...props} /> : <Folders {...props} />)}
    </>
  )
}

/** An encrypted library is not listed before it is unlocked. */
function LockedFolders(props: ItemProps) {
  const { data } = useLibrary(props.library.repo_id)
  return data === undefined || data.lib_need_decrypt ? null : <Folders {...props} />
}

function Folders(props: ItemProps) {
  const { library, path, level } = props
  const texts = useTexts('files')
  const { data } = useSubfolders(library.repo_id, path)
  if (data?.length === 0) {
    return (
      <span className="library-tree-none muted" style={{ paddingInlineStart: 30 + level * 14 }}>
        {texts.noFolders}
      </span>
    )
  }
  return (
    // biome-ignore lint/a11y/useSemanticElements: a part of a tree, not of a form.
    <div role="group">
      {data?.slice(0, MAX_FOLDERS).map(({ name }) => (
        <Item
          key={name}
          {...props}
          path={join(path, name)}
          name={name}
          level={level + 1}
          isEntrance={false}
        />
      ))}
    </div>
  )
}

/** Drops of entries and of files of the desktop on a place of the tree. */
function useDrops(library: LibraryItem, path: string, expand: () => void) {
  const transfer = useTransfer()
  const failed = useFailureToast()
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined)
  const { repo_id: libraryId, repo_name: libraryName } = library
  const isTarget = canEdit(library)
  const entries = useDropPlace(
    libraryId,
    path,
    isTarget ? (operation, selected, to) => void transfer(operation, selected, to).catch(failed) : undefined,
  )
  const files = useFileDropPlace(isTarget ? { libraryId, libraryName, path } : undefined)
  const handlers = bothHandlers(entries.handlers, files.handlers)
  const stop = () => clearTimeout(timer.current)
  return {
    over: entries.over || files.over,
    handlers: {
      ...handlers,
      onDragEnter() {
        stop()
        timer.current = setTimeout(expand, EXPAND_MS)
      },
      onDragLeave() {
        stop()
        handlers.onDragLeave()
      },
      onDrop(event: DragEvent) {
        stop()
        handlers.onDrop(event)
      },
    },
  }
}
