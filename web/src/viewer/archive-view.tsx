import './archive.css'
import { useQuery } from '@tanstack/react-query'
import { useVirtualizer } from '@tanstack/react-virtual'
import { ChevronRight, FolderOutput } from 'lucide-react'
import { Suspense, use, useMemo, useRef, useState } from 'react'
import { CarrelError, extractArchive, fetchArchive, useLibrary } from '../api/index.ts'
import { nameOf, parentOf } from '../paths.ts'
import { trackTask } from '../tasks/index.ts'
import { useFormats, useTexts } from '../texts/index.ts'
import { Button, FileIcon, LoadError, visibleName, Waiting } from '../ui/index.ts'
import { type ArchiveItem, type ArchiveTree, archiveTree } from './archive-tree.ts'
import { FolderPickerSlot } from './folder-picker-slot.ts'
import { InfoCard } from './info-card.tsx'
import type { OpenedFile } from './opened-file.ts'

const ROW_PX = 44

/** The entries of a zip archive, one folder at a time, and their extraction. */
export default function ArchiveView({ file }: { file: OpenedFile }) {
  const texts = useTexts('viewer')
  const { data, error, refetch } = useQuery({
    queryKey: ['archive', file.libraryId, file.path, file.id, file.commitId ?? ''],
    queryFn: ({ signal }) => fetchArchive(file, signal),
    staleTime: Number.POSITIVE_INFINITY,
  })
  const tree = useMemo(() => data && archiveTree(data.entries), [data])
  if (error instanceof CarrelError && error.status === 422)
    return <InfoCard file={file} why={texts.archiveUnreadable} />
  if (error) return <LoadError error={error} onRetry={() => void refetch()} />
  if (tree === undefined || data === undefined) return <Waiting />
  return <Entries file={file} tree={tree} hidden={data.total - data.entries.length} />
}

function Entries(props: { file: OpenedFile; tree: ArchiveTree; hidden: number }) {
  const { file, tree } = props
  const texts = useTexts('viewer')
  const [folder, setFolder] = useState('')
  const [chosen, setChosen] = useState<ReadonlySet<string>>(new Set())
  const [extracting, setExtracting] = useState<readonly string[]>()
  const items = tree.get(folder) ?? []
  const free = items.filter(({ refusal }) => refusal === '')
  const open = (path: string) => {
    setFolder(path)
    setChosen(new Set())
  }
  const toggle = (name: string) => {
    const next = new Set(chosen)
    if (!next.delete(name)) next.add(name)
    setChosen(next)
  }
  const isAll = free.length > 0 && chosen.size === free.length
  return (
    <div className="viewer-body archive">
      <div className="viewer-tools" role="toolbar" aria-label={texts.archiveTools}>
        <Crumbs name={file.name} folder={folder} onOpen={open} />
        <span className="viewer-tools-gap" />
        {file.commitId === undefined && (
          <>
            <Button
              icon={FolderOutput}
              disabled={chosen.size === 0}
              onClick={() => setExtracting([...chosen])}
            >
              {texts.extractSelected(chosen.size)}
            </Button>
            <Button variant="primary" icon={FolderOutput} onClick={() => setExtracting([])}>
              {texts.extractAll}
            </Button>
          </>
        )}
      </div>
      {props.hidden > 0 && <p className="viewer-note">{texts.archiveCut(props.hidden)}</p>}
      <EntryTable
        label={texts.archiveEntries(file.name)}
        items={items}
        chosen={chosen}
        isAll={isAll}
        onToggle={toggle}
        onToggleAll={() => setChosen(new Set(isAll ? [] : free.map(({ name }) => name)))}
        onOpen={(name) => open(folder === '' ? name : `${folder}/${name}`)}
      />
      {extracting && (
        <ExtractDialog
          file={file}
          base={extracting.length === 0 ? '' : folder}
          names={extracting}
          onClose={() => setExtracting(undefined)}
        />
      )}
    </div>
  )
}

function Crumbs(props: { name: string; folder: string; onOpen: (folder: string) => void }) {
  const texts = useTexts('viewer')
  const names = props.folder === '' ? [] : props.folder.split('/')
  const places = names.map((name, index) => ({ name, path: names.slice(0, index + 1).join('/') }))
  return (
    <nav className="archive-crumbs" aria-label={texts.archivePlace}>
      {[{ name: props.name, path: '' }, ...places].map(({ name, path }) => (
        <span key={path}>
          {path !== '' && <ChevronRight size={15} aria-hidden />}
          <button
            type="button"
            aria-current={path === props.folder ? 'location' : undefined}
            onClick={() => props.onOpen(path)}
          >
            <bdi>{visibleName(name)}</bdi>
          </button>
        </span>
      ))}
    </nav>
  )
}

function EntryTable(props: {
  label: string
  items: readonly ArchiveItem[]
  chosen: ReadonlySet<string>
  isAll: boolean
  onToggle: (name: string) => void
  onToggleAll: () => void
  onOpen: (name: string) => void
}) {
  const { items, chosen } = props
  const texts = useTexts('viewer')
  const common = useTexts('common')
  const scroller = useRef<HTMLDivElement>(null)
  const rows = useVirtualizer({
    count: items.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => ROW_PX,
    overscan: 10,
  })
  const shown = rows.getVirtualItems()
  const before = shown[0]?.start ?? 0
  const after = rows.getTotalSize() - (shown.at(-1)?.end ?? 0)
  return (
    // A long list must be scrollable by keyboard.
    // biome-ignore lint/a11y/noNoninteractiveTabindex: as said above.
    <section ref={scroller} className="archive-entries" aria-label={props.label} tabIndex={0}>
      <table aria-rowcount={items.length + 1}>
        <thead>
          <tr>
            <th scope="col" className="archive-check">
              <input
                type="checkbox"
                aria-label={texts.selectAll}
                checked={props.isAll}
                onChange={props.onToggleAll}
              />
            </th>
            <th scope="col">{common.name}</th>
            <th scope="col" className="archive-size">
              {common.size}
            </th>
            <th scope="col" className="archive-time">
              {common.modified}
            </th>
          </tr>
        </thead>
        <tbody>
          {before > 0 && <tr aria-hidden style={{ height: before }} />}
          {shown.map(({ index }) => {
            const item = items[index]
            if (item === undefined) return null
            return (
              <EntryRow
                key={item.name}
                row={index + 2}
                item={item}
                isChosen={chosen.has(item.name)}
                onToggle={() => props.onToggle(item.name)}
                onOpen={() => props.onOpen(item.name)}
              />
            )
          })}
          {after > 0 && <tr aria-hidden style={{ height: after }} />}
        </tbody>
      </table>
    </section>
  )
}

function EntryRow(props: {
  row: number
  item: ArchiveItem
  isChosen: boolean
  onToggle: () => void
  onOpen: () => void
}) {
  const { item, isChosen } = props
  const texts = useTexts('viewer')
  const formats = useFormats()
  const why = item.refusal === '' ? undefined : texts.archiveRefusals[item.refusal]
  return (
    <tr className={why === undefined ? '' : 'muted'} aria-rowindex={props.row}>
      <td className="archive-check">
        <input
          type="checkbox"
          aria-label={texts.selectEntry(item.name)}
          checked={isChosen}
          disabled={why !== undefined}
          onChange={props.onToggle}
        />
      </td>
      <td>
        <span className="archive-name">
          <FileIcon name={item.name} isDir={item.isDir} />
          {item.isDir && why === undefined ? (
            <button type="button" onClick={props.onOpen}>
              <bdi>{visibleName(item.name)}</bdi>
            </button>
          ) : (
            <bdi title={item.name}>{visibleName(item.name)}</bdi>
          )}
          {why !== undefined && <span className="badge">{why}</span>}
          {item.isDir && <span className="muted">{texts.archiveFiles(item.fileCount)}</span>}
        </span>
      </td>
      <td className="archive-size">{formats.size(item.size)}</td>
      <td className="archive-time">{item.mtime > 0 ? formats.date(item.mtime) : ''}</td>
    </tr>
  )
}

/** Asks for a folder and starts the extraction. Everything goes into a new folder with the name of the archive. */
function ExtractDialog(props: {
  file: OpenedFile
  base: string
  names: readonly string[]
  onClose: () => void
}) {
  const { file, base, names, onClose } = props
  const texts = useTexts('viewer')
  const Picker = use(FolderPickerSlot)
  const library = useLibrary(file.libraryId)
  if (Picker === undefined || library.data === undefined) return null
  const folder = parentOf(file.path)
  const isAll = names.length === 0
  return (
    <Suspense fallback={null}>
      <Picker
        title={isAll ? texts.extractTitle(file.name) : texts.extractSelected(names.length)}
        submit={texts.extractHere}
        {...(file.mayWrite && {
          start: { libraryId: file.libraryId, libraryName: library.data.repo_name, path: folder },
        })}
        onChoose={async (place) => {
          const what = { base, names, ...(isAll && { folderName: withoutExtension(file.name) }) }
          const task = await extractArchive(file, what, place)
          const archive = { libraryId: file.libraryId, folder, names: [nameOf(file.path)] }
          trackTask(task, 'extract', archive, place)
        }}
        onClose={onClose}
      />
    </Suspense>
  )
}

const withoutExtension = (name: string) => name.replace(/\.zip$/i, '') || name
