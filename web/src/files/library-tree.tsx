import './library-tree.css'
import { Book, BookLock, ChevronRight } from 'lucide-react'
import {
  type DragEvent,
  type HTMLAttributes,
  type KeyboardEvent,
  type MouseEvent,
  useMemo,
  useRef,
  useState,
} from 'react'
import { Link, useLocation } from 'wouter'
import { canEdit, type LibraryItem, useLibraries, useLibrary } from '../api/index.ts'
import { folderUrl, useQueryParams } from '../navigation/index.ts'
import { join, normalizePath } from '../paths.ts'
import { useFormats, useLanguage, useTexts } from '../texts/index.ts'
import { FileIcon, forwardKey, SearchField, useFailureToast } from '../ui/index.ts'
import { useFileDropPlace } from '../uploads/index.ts'
import { bothHandlers, useDropPlace } from './drag-and-drop.ts'
import { matching } from './library-sections.ts'
import { moveInTree, useSubfolders } from './tree-parts.ts'
import { treeSections, useCollapsed } from './tree-sections.ts'
import { useTransfer } from './use-transfer.ts'

/** More libraries of a section are shown on request. */
const MAX_AT_ONCE = 50
const MAX_FOUND = 200
/** The field that finds libraries is there if there are more. */
const MAX_WITHOUT_FILTER = 12
const MAX_FOLDERS = 100
/** A drag that rests on a collapsed folder expands it. */
const EXPAND_MS = 700

/** The libraries and their folders in the side menu, by section. Entries and files can be dropped on them. */
export function LibraryTree() {
  const texts = useTexts('files')
  const words = useTexts('libraries')
  const { language } = useLanguage()
  const { data } = useLibraries()
  const [location] = useLocation()
  const path = normalizePath(useQueryParams().get('p') ?? '/')
  const shown = location.startsWith('/library/') ? keyOf(location.slice('/library/'.length), path) : ''
  const [open, setOpen] = useState<ReadonlySet<string>>(new Set())
  const [collapsed, toggleSection] = useCollapsed()
  const [part, setPart] = useState('')
  const field = useRef<HTMLDivElement>(null)
  const sections = useMemo(() => {
    const titles = {
      starred: words.starred,
      own: texts.ownLibraries,
      people: words.people,
      everyone: words.everyone,
    }
    return treeSections(data ?? [], titles, language)
  }, [data, language, texts, words])
  const all = sections.flatMap(({ libraries }) => libraries)
  if (all.length === 0) return null
  const toggle = (key: string, isOpen: boolean) =>
    setOpen((keys) => new Set(isOpen ? [...keys, key] : [...keys].filter((one) => one !== key)))
  const tree = { open, toggle, shown }
  const hasFilter = all.length > MAX_WITHOUT_FILTER
  const isFiltered = hasFilter && part.trim() !== ''
  const found = isFiltered ? matching(all, part).slice(0, MAX_FOUND) : []
  // One section needs no title.
  const isFlat = isFiltered || sections.length === 1
  const shownSections = isFiltered ? [{ key: 'found', title: '', libraries: found }] : sections
  const focusTree = (event: KeyboardEvent) => {
    if (event.key !== 'ArrowDown') return
    event.preventDefault()
    field.current?.parentElement?.querySelector<HTMLElement>('[role=treeitem]')?.focus()
  }
  return (
    <>
      {hasFilter && (
        <div ref={field} className="library-tree-filter" onKeyDown={focusTree}>
          <SearchField label={texts.findLibrary} value={part} onChange={setPart} />
        </div>
      )}
      {isFiltered && (
        <p className={found.length > 0 ? 'visually-hidden' : 'library-tree-none muted'} role="status">
          {found.length > 0 ? words.count(found.length) : words.noMatch}
        </p>
      )}
      <div className="library-tree" role="tree" aria-label={texts.libraries} onKeyDown={moveInTree}>
        {shownSections.map((section, index) => (
          <Section
            key={section.key}
            title={section.title}
            libraries={section.libraries}
            isFlat={isFlat}
            isOpen={isFlat || !collapsed.has(section.key)}
            onToggle={(isOpen) => toggleSection(section.key, isOpen)}
            max={isFiltered ? MAX_FOUND : MAX_AT_ONCE}
            tree={tree}
            isEntrance={index === 0}
          />
        ))}
      </div>
    </>
  )
}

const keyOf = (libraryId: string, path: string) => `${libraryId} ${path}`

interface SectionProps {
  readonly title: string
  readonly libraries: readonly LibraryItem[]
  readonly isFlat: boolean
  readonly isOpen: boolean
  readonly onToggle: (isOpen: boolean) => void
  readonly max: number
  readonly tree: ItemProps['tree']
  readonly isEntrance: boolean
}

/** The libraries of a section below its title, which collapses it. */
function Section(props: SectionProps) {
  const { title, libraries, isFlat, isOpen, onToggle, tree, isEntrance } = props
  const texts = useTexts('files')
  const formats = useFormats()
  const [isWhole, setWhole] = useState(false)
  const rows = isOpen ? libraries.slice(0, isWhole ? undefined : props.max) : []
  return (
    <>
      {!isFlat && (
        <TreeButton
          className="library-tree-title"
          aria-level={1}
          aria-expanded={isOpen}
          tabIndex={isEntrance ? 0 : -1}
          onPress={() => onToggle(!isOpen)}
          onArrow={(key) => {
            if ((key === 'ArrowRight') === isOpen) return false
            onToggle(!isOpen)
            return true
          }}
        >
          <span className="library-tree-toggle" aria-hidden>
            <ChevronRight size={15} />
          </span>
          <bdi>{title}</bdi>
          <span className="library-tree-count" aria-hidden>
            {formats.number(libraries.length)}
          </span>
        </TreeButton>
      )}
      {rows.map((library, index) => (
        <Item
          key={library.repo_id}
          library={library}
          path="/"
          name={library.repo_name}
          level={isFlat ? 1 : 2}
          tree={tree}
          isEntrance={isFlat && isEntrance && index === 0}
        />
      ))}
      {isOpen && rows.length < libraries.length && (
        <TreeButton
          className="library-tree-all"
          aria-level={isFlat ? 1 : 2}
          tabIndex={-1}
          onPress={() => setWhole(true)}
        >
          {texts.allLibraries(formats.number(libraries.length))}
        </TreeButton>
      )}
    </>
  )
}

/** An item of the tree that leads nowhere. `onArrow` says whether it used the key. */
function TreeButton(
  props: HTMLAttributes<HTMLDivElement> & {
    readonly onPress: () => void
    readonly onArrow?: (key: string) => boolean
  },
) {
  const { onPress, onArrow, className, ...others } = props
  return (
    <div
      {...others}
      role="treeitem"
      className={`library-tree-item ${className}`}
      onClick={onPress}
      onKeyDown={(event) => {
        const key = forwardKey(event.key)
        const isPress = key === 'Enter' || key === ' '
        if (!isPress && !(key.startsWith('Arrow') && onArrow?.(key))) return
        if (isPress) onPress()
        event.preventDefault()
        event.stopPropagation()
      }}
    />
  )
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
        tabIndex={isShown || props.isEntrance ? 0 : -1}
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
        {path === '/' ? (
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
