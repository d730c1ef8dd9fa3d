import './files.css'
import { ArrowUp, ChevronRight, Download, LayoutGrid, List, Search, X } from 'lucide-react'
import { useDeferredValue, useMemo, useRef, useState } from 'react'
import { flushSync } from 'react-dom'
import { Link, useLocation } from 'wouter'
import { type Entry, useFolder } from '../api/index.ts'
import { startArchive } from '../archives/index.ts'
import { kindOf } from '../file-kinds.ts'
import { folderUrl, useQueryParams } from '../navigation/index.ts'
import { ancestorsOf, nameOf, normalizePath, parentOf } from '../paths.ts'
import { appBase } from '../site-url.ts'
import { useFormats, useTexts } from '../texts/index.ts'
import {
  Button,
  Empty,
  IconButton,
  LoadError,
  type MenuEntry,
  NARROW,
  useFailureToast,
  useMedia,
  useTitle,
  visibleName,
  Waiting,
} from '../ui/index.ts'
import { type VisitedLink, visitedLink } from '../visited-link.ts'
import type { CurrentFolder } from './current-folder.ts'
import { download } from './download-entries.ts'
import { EntryGrid } from './entry-grid.tsx'
import { addressOf } from './entry-name.tsx'
import { FindBox } from './find-box.tsx'
import { activateChild, focusWhenOpened, lastVisit } from './folder-visits.ts'
import { usePreferences } from './preferences.ts'
import { all, indexNames, kept, none, nothing, type Selection } from './selection.ts'
import { SortMenu } from './sort-menu.tsx'
import { byName, matching, sorted } from './sorting.ts'

const NOTHING_SHARED = new Map<string, never>()
const NOTHING_CUT = new Set<string>()
const ignore = () => undefined

/** The shared folder of a link, or one below it. */
export default function VisitedFolderPage() {
  const path = normalizePath(useQueryParams().get('p') ?? '/')
  if (visitedLink === undefined) throw new Error('this is not the page of a link')
  // Each folder has its own selection, scroll position and filter.
  return <VisitedFolder key={path} link={visitedLink} path={path} />
}

function VisitedFolder({ link, path }: { link: VisitedLink; path: string }) {
  const folder = useFolder(link.token, path)
  useTitle(path === '/' ? link.name : nameOf(path))
  if (folder.data !== undefined) {
    return <Contents link={link} path={path} entries={folder.data.dirent_list} />
  }
  return (
    <div className="files">
      <div className="files-head">
        <Path link={link} path={path} />
      </div>
      {folder.error ? <LoadError error={folder.error} onRetry={() => void folder.refetch()} /> : <Waiting />}
    </div>
  )
}

function Contents(props: { link: VisitedLink; path: string; entries: readonly Entry[] }) {
  const { link, path } = props
  const texts = useTexts('files')
  const [preferences, prefer] = usePreferences()
  const narrow = useMedia(NARROW)
  const findBox = useRef<HTMLInputElement>(null)
  const [isFinding, setFinding] = useState(false)
  const here = useMemo<CurrentFolder>(
    () => ({
      libraryId: link.token,
      libraryName: link.name,
      path,
      editable: false,
      owned: false,
      encrypted: false,
    }),
    [link, path],
  )
  const [filter, setFilter] = useState('')
  const deferred = useDeferredValue(filter)
  const named = useMemo(() => byName(props.entries), [props.entries])
  const ordered = useMemo(() => sorted(named, preferences.sorting), [named, preferences.sorting])
  const entries = useMemo(() => matching(ordered, deferred), [ordered, deferred])
  const shown = useMemo(() => indexNames(entries.map(({ name }) => name)), [entries])
  const [wanted, setSelection] = useState<Selection>(() => {
    const active = lastVisit(link.token, path)?.active
    return active === undefined ? nothing : { ...nothing, active, anchor: active }
  })
  const selection = useMemo(() => kept(wanted, shown), [wanted, shown])
  const chosen = useMemo(() => entries.filter(({ name }) => selection.chosen.has(name)), [entries, selection])
  const actions = useActions(here, link, setSelection)
  const asGrid = preferences.view === 'grid'
  const onFind = () => {
    flushSync(() => {
      setSelection(none(selection))
      setFinding(true)
    })
    findBox.current?.focus()
  }
  const find = { box: findBox, filter, setFilter, found: entries.length, all: ordered.length }
  const views = (
    <>
      {(asGrid || narrow) && <SortMenu preferences={preferences} prefer={prefer} />}
      <IconButton
        label={asGrid ? texts.showAsList : texts.showAsGrid}
        icon={asGrid ? List : LayoutGrid}
        onClick={() => prefer({ view: asGrid ? 'list' : 'grid' })}
      />
    </>
  )
  const everything = link.canDownload && props.entries.length > 0 && (
    <DownloadAll here={here} narrow={narrow} />
  )
  const selectionBar = chosen.length > 0 && (
    <ChosenBar
      chosen={chosen}
      onClear={() => setSelection(none(selection))}
      onDownload={link.canDownload ? () => actions.download(chosen) : undefined}
    />
  )
  return (
    <div className="files">
      {!(narrow && selectionBar) && (
        <div className="files-head">
          {narrow && path !== '/' && <IconButton label={texts.up} icon={ArrowUp} onClick={actions.up} />}
          <Path link={link} path={path} />
          {narrow && (
            <span className="files-bar-end">
              <IconButton
                label={texts.find}
                icon={Search}
                aria-pressed={isFinding}
                onClick={() => setFinding(!isFinding)}
              />
              {views}
              {everything}
            </span>
          )}
        </div>
      )}
      {narrow ? (
        <>
          {selectionBar && <div className="files-bar">{selectionBar}</div>}
          {(isFinding || filter !== '') && (
            <div className="files-bar files-find-bar">
              <FindBox {...find} />
            </div>
          )}
        </>
      ) : (
        <div className="files-bar">
          {selectionBar || (
            <>
              <FindBox {...find} />
              <span className="files-bar-end">
                {views}
                {everything}
              </span>
            </>
          )}
        </div>
      )}
      <div className="files-main">
        <div className="files-list">
          {entries.length === 0 ? (
            <Nothing isEmpty={props.entries.length === 0} onClear={() => setFilter('')} />
          ) : (
            <EntryGrid
              here={here}
              entries={entries}
              shown={shown}
              selection={selection}
              cut={NOTHING_CUT}
              shared={NOTHING_SHARED}
              onSelect={setSelection}
              preferences={{ ...preferences, folderSizes: false }}
              onSort={(sorting) => prefer({ sorting })}
              narrow={narrow}
              menu={actions.menu(chosen, () => setSelection(all(selection, shown)))}
              renaming={undefined}
              isTaken={() => false}
              onRenamed={ignore}
              onOpen={actions.open}
              onQuickAction={(_, entry) => actions.download([entry])}
              onStartRename={ignore}
              onDelete={ignore}
              onUp={actions.up}
              onFind={onFind}
              onEscape={() => (chosen.length > 0 ? setSelection(none(selection)) : setFilter(''))}
              onDropped={undefined}
            />
          )}
        </div>
      </div>
    </div>
  )
}

/** What a visitor can do with entries. */
function useActions(here: CurrentFolder, link: VisitedLink, setSelection: (selection: Selection) => void) {
  const texts = useTexts('files')
  const common = useTexts('common')
  const failed = useFailureToast()
  const [, go] = useLocation()
  const { libraryId, path } = here
  const open = (entry: Entry) => {
    // Set before the list unmounts, so that the position can be restored.
    flushSync(() => setSelection({ ...nothing, active: entry.name, anchor: entry.name }))
    const address = addressOf(here, entry)
    if (entry.type === 'dir') focusWhenOpened(libraryId, `${path === '/' ? '' : path}/${entry.name}`)
    // What a visitor may see of other files, but not download, is on a page of the server.
    else if (!link.canDownload && kindOf(entry.name) !== 'image') return location.assign(appBase + address)
    go(address)
  }
  const save = (entries: readonly Entry[]) => void download(here, entries).catch(failed)
  return {
    open,
    download: save,
    up: () => {
      if (path === '/') return
      const parent = parentOf(path)
      activateChild(libraryId, parent, path)
      go(folderUrl(libraryId, parent))
    },
    menu(chosen: readonly Entry[], onSelectAll: () => void): readonly MenuEntry[] {
      const [entry] = chosen
      if (entry === undefined) return [{ label: texts.selectAll, onSelect: onSelectAll }]
      return [
        chosen.length === 1 && { label: common.open, onSelect: () => open(entry) },
        link.canDownload && { label: common.download, icon: Download, onSelect: () => save(chosen) },
      ]
    },
  }
}

/** From the shared folder to one below it. */
function Path({ link, path }: { link: VisitedLink; path: string }) {
  const texts = useTexts('files')
  const above = path === '/' ? [] : [{ name: link.name, path: '/' }, ...ancestorsOf(parentOf(path))]
  const name = path === '/' ? link.name : nameOf(path)
  return (
    <nav aria-label={texts.path} className="files-path">
      <ol>
        {above.map((step) => (
          <li key={step.path}>
            <Link
              to={folderUrl(link.token, step.path)}
              className="files-crumb"
              title={step.name}
              onClick={() => activateChild(link.token, step.path, path)}
            >
              <bdi>{visibleName(step.name)}</bdi>
            </Link>
            <ChevronRight size={16} aria-hidden className="files-separator" />
          </li>
        ))}
        <li className="files-here">
          <h1 title={name} aria-current="page">
            <bdi>{visibleName(name)}</bdi>
          </h1>
        </li>
      </ol>
    </nav>
  )
}

/** Downloads the folder as an archive. */
function DownloadAll({ here, narrow }: { here: CurrentFolder; narrow: boolean }) {
  const texts = useTexts('visitors')
  const { libraryId, libraryName, path } = here
  const title = `${path === '/' ? libraryName : nameOf(path)}.zip`
  const run = () => startArchive({ libraryId, parent: path, names: [], title })
  if (narrow) return <IconButton label={texts.downloadAll} icon={Download} onClick={run} />
  return (
    <Button variant="primary" icon={Download} onClick={run}>
      {texts.downloadAll}
    </Button>
  )
}

/** Bar above the list while something is selected. */
function ChosenBar(props: {
  chosen: readonly Entry[]
  onClear: () => void
  onDownload: (() => void) | undefined
}) {
  const { chosen } = props
  const texts = useTexts('files')
  const common = useTexts('common')
  const formats = useFormats()
  const size = chosen.reduce((sum, entry) => sum + (entry.size ?? 0), 0)
  const label = texts.selected(chosen.length, formats.number(chosen.length))
  return (
    <div className="files-selection-bar" role="toolbar" aria-label={label}>
      <IconButton label={texts.clearSelection} icon={X} onClick={props.onClear} />
      <span className="files-count" role="status">
        {label}
        {size > 0 && <span className="files-count-size"> · {formats.size(size)}</span>}
      </span>
      {props.onDownload && (
        <span className="files-bar-end">
          <IconButton label={common.download} icon={Download} onClick={props.onDownload} />
        </span>
      )}
    </div>
  )
}

/** Shown instead of an empty list, or of a filter without matches. */
function Nothing({ isEmpty, onClear }: { isEmpty: boolean; onClear: () => void }) {
  const texts = useTexts('files')
  return (
    <div className="files-empty">
      {isEmpty ? (
        <Empty icon={List} title={texts.empty} />
      ) : (
        <Empty icon={Search} title={texts.nothingFound}>
          <Button onClick={onClear}>{texts.clearFind}</Button>
        </Empty>
      )}
    </div>
  )
}
