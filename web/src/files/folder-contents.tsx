import { ArrowUp } from 'lucide-react'
import { Suspense, useCallback, useDeferredValue, useMemo, useRef, useState } from 'react'
import { flushSync } from 'react-dom'
import { useLocation } from 'wouter'
import type { Entry, LibraryDetail, Selected } from '../api/index.ts'
import { useAccount, useSharedSigns } from '../api/index.ts'
import { useProvidedActions } from '../commands/index.ts'
import { folderUrl } from '../navigation/index.ts'
import { parentOf } from '../paths.ts'
import type { Target } from '../tasks/index.ts'
import { useFormats, useTexts } from '../texts/index.ts'
import {
  ContextMenu,
  Dialog,
  IconButton,
  NARROW,
  NO_ROOM_BESIDE,
  useFailureToast,
  useMedia,
} from '../ui/index.ts'
import { DropZone } from '../uploads/index.ts'
import { Breadcrumb } from './breadcrumb.tsx'
import { type CurrentFolder, entryPath } from './current-folder.ts'
import type { OpenDialog } from './dialogs.tsx'
import { download } from './download-entries.ts'
import { EmptyFolder } from './empty-folder.tsx'
import { EntryGrid } from './entry-grid.tsx'
import { addressOf } from './entry-name.tsx'
import { FindBox } from './find-box.tsx'
import { activateChild, focusWhenOpened, lastVisit } from './folder-visits.ts'
import { LazyDetails, LazyOpenedDialog } from './lazy.ts'
import { usePreferences } from './preferences.ts'
import { all, indexNames, kept, none, nothing, only, type Selection } from './selection.ts'
import { SelectionBar } from './selection-bar.tsx'
import { byName, matching, sorted } from './sorting.ts'
import { AddButton, PhoneTools, Toolbar } from './toolbar.tsx'
import { useEntryChanges } from './use-entry-changes.ts'
import { useEntryClipboard } from './use-entry-clipboard.ts'
import { useEntryMenu } from './use-entry-menu.ts'
import { useFolderMenu, useNewMenu, useUploadMenu } from './use-folder-menu.ts'

/** A loaded folder: its entries and the actions on them. */
export function FolderContents(props: {
  libraryId: string
  path: string
  library: LibraryDetail
  entries: readonly Entry[]
  editable: boolean
}) {
  const { libraryId, path, library, editable } = props
  const texts = useTexts('files')
  const [, go] = useLocation()
  const failed = useFailureToast()
  const { data: account } = useAccount()
  const [preferences, prefer] = usePreferences()
  const narrow = useMedia(NARROW)
  const overlaid = useMedia(NO_ROOM_BESIDE)
  const [dialog, setDialog] = useState<OpenDialog>()
  const [renaming, setRenaming] = useState<string>()
  const [sheet, setSheet] = useState(false)
  const [isFinding, setFinding] = useState(false)
  const findBox = useRef<HTMLInputElement>(null)

  const owned = account !== undefined && account.email === library.owner_email
  const { repo_name: libraryName, encrypted } = library
  const here = useMemo<CurrentFolder>(
    () => ({ libraryId, libraryName, path, editable, owned, encrypted }),
    [libraryId, libraryName, path, editable, owned, encrypted],
  )
  const changes = useEntryChanges(here)
  // Fetched once the list is shown, so that the list does not wait for it.
  const signs = useSharedSigns(libraryId, path, owned || library.is_admin)

  const [filter, setFilter] = useState('')
  const deferred = useDeferredValue(filter)
  const named = useMemo(() => byName(props.entries), [props.entries])
  const ordered = useMemo(() => sorted(named, preferences.sorting), [named, preferences.sorting])
  const entries = useMemo(() => matching(ordered, deferred), [ordered, deferred])
  const shown = useMemo(() => indexNames(entries.map(({ name }) => name)), [entries])

  const [wanted, setSelection] = useState<Selection>(() => {
    const active = lastVisit(libraryId, path)?.active
    return active === undefined ? nothing : { ...nothing, active, anchor: active }
  })
  const selection = useMemo(() => kept(wanted, shown), [wanted, shown])
  const chosen = useMemo(
    () => entries.filter(({ name }) => selection.chosen.has(name)),
    [entries, selection.chosen],
  )

  const open = (entry: Entry) => {
    // Set before the list unmounts, so that the position can be restored.
    flushSync(() => setSelection({ ...nothing, active: entry.name, anchor: entry.name }))
    if (entry.type === 'dir') focusWhenOpened(libraryId, `${path === '/' ? '' : path}/${entry.name}`)
    go(addressOf(here, entry))
  }
  const up = () => {
    if (path === '/') return go('/')
    const parent = parentOf(path)
    activateChild(libraryId, parent, path)
    return go(folderUrl(libraryId, parent))
  }
  const remove = (gone: readonly Entry[]) => {
    const names = new Set(gone.map(({ name }) => name))
    const last = gone.reduce((place, { name }) => Math.max(place, shown.places.get(name) ?? -1), -1)
    const next = shown.names.slice(last + 1).find((name) => !names.has(name))
    setSelection({ ...nothing, active: next, anchor: next })
    void changes.remove(gone)
  }
  const rename = async (entry: Entry, newName: string | undefined) => {
    setRenaming(undefined)
    if (newName === undefined) return
    setSelection(only(newName))
    setSelection(only(await changes.rename(entry, newName)))
  }
  const startRename = () => {
    if (!editable) return
    if (chosen.length > 1) setDialog({ kind: 'rename-many', entries: chosen })
    else setRenaming(selection.active)
  }
  const { entries: unfiltered } = props
  const isTaken = useCallback((name: string) => unfiltered.some((entry) => entry.name === name), [unfiltered])
  const transfer = (operation: 'copy' | 'move', selected: Selected, to: Target) =>
    void changes.transfer(operation, selected, to).catch(failed)
  const quickAction = (action: 'share' | 'download', entry: Entry) => {
    if (action === 'download') void download(here, [entry]).catch(failed)
    else
      setDialog({
        kind: 'share',
        path: entryPath(here, entry),
        name: entry.name,
        isDir: entry.type === 'dir',
      })
  }
  const onDropped = editable ? transfer : undefined
  const clipboard = useEntryClipboard({ here, names: chosen.map(({ name }) => name), transfer })
  const showDetails = () => (overlaid ? setSheet(true) : prefer({ details: true }))
  const detailsBar = {
    detailsShown: overlaid ? sheet : preferences.details,
    onToggleDetails: () => (overlaid ? setSheet(true) : prefer({ details: !preferences.details })),
  }

  const entryMenu = useEntryMenu({
    here,
    changes,
    clipboard,
    open,
    remove,
    setRenaming,
    setDialog,
    showDetails,
  })
  const folderMenu = useFolderMenu({
    here,
    all: props.entries,
    clipboard,
    preferences,
    prefer,
    setDialog,
    onSelectAll: () => setSelection(all(selection, shown)),
  })
  const commands = useTexts('commands')
  const formats = useFormats()
  const newMenu = useNewMenu(setDialog)
  const uploadMenu = useUploadMenu(here)
  useProvidedActions([
    { title: commands.selection(chosen.length, formats.number(chosen.length)), entries: entryMenu(chosen) },
    { title: commands.folder, entries: [...(editable ? [...uploadMenu, ...newMenu] : []), ...folderMenu] },
  ])
  const onFind = () => {
    // The selection bar replaces the filter field.
    flushSync(() => {
      setSelection(none(selection))
      setFinding(true)
    })
    findBox.current?.focus()
    findBox.current?.select()
  }
  const clearFind = () => setFilter('')
  const find = { box: findBox, filter, setFilter, found: entries.length, all: ordered.length }
  const details = (
    <Suspense>
      <LazyDetails here={here} entries={chosen} all={props.entries} library={library} setDialog={setDialog} />
    </Suspense>
  )
  const selectionBar = chosen.length > 0 && (
    <SelectionBar
      here={here}
      entries={chosen}
      menu={entryMenu(chosen)}
      onClear={() => setSelection(none(selection))}
      onDelete={() => remove(chosen)}
      setDialog={setDialog}
      {...detailsBar}
    />
  )
  return (
    <div className="files">
      {!(narrow && selectionBar) && (
        <div className="files-head">
          {narrow && <IconButton label={texts.up} icon={ArrowUp} onClick={up} />}
          <Breadcrumb libraryId={libraryId} libraryName={libraryName} path={path} onDropped={onDropped} />
          {!editable && <span className="badge">{texts.readOnly}</span>}
          {narrow && (
            <PhoneTools
              preferences={preferences}
              prefer={prefer}
              menu={folderMenu}
              finding={isFinding}
              onFind={() => setFinding(!isFinding)}
            />
          )}
        </div>
      )}
      {narrow ? (
        selectionBar && <div className="files-bar">{selectionBar}</div>
      ) : (
        <Toolbar
          here={here}
          preferences={preferences}
          prefer={prefer}
          menu={folderMenu}
          find={find}
          {...detailsBar}
          setDialog={setDialog}
          selection={selectionBar}
        />
      )}
      {narrow && (isFinding || filter !== '') && (
        <div className="files-bar files-find-bar">
          <FindBox {...find} />
        </div>
      )}
      <div className="files-main">
        <div className="files-list">
          <DropZone
            target={editable ? { libraryId, libraryName, path } : undefined}
            refusal={editable ? undefined : texts.dropRefused}
          >
            {entries.length > 0 ? (
              <EntryGrid
                here={here}
                entries={entries}
                shown={shown}
                selection={selection}
                cut={clipboard.cut}
                shared={signs}
                onSelect={setSelection}
                preferences={preferences}
                onSort={(sorting) => prefer({ sorting })}
                narrow={narrow}
                menu={chosen.length > 0 ? entryMenu(chosen) : folderMenu}
                renaming={renaming}
                isTaken={isTaken}
                onRenamed={(entry, newName) => void rename(entry, newName)}
                onOpen={open}
                onQuickAction={quickAction}
                onStartRename={startRename}
                onDelete={() => editable && chosen.length > 0 && remove(chosen)}
                onUp={up}
                onFind={onFind}
                onEscape={() => (chosen.length > 0 ? setSelection(none(selection)) : clearFind())}
                onDropped={onDropped}
              />
            ) : (
              <ContextMenu entries={folderMenu}>
                <div className="files-empty">
                  <EmptyFolder here={here} filter={deferred} onClear={clearFind} setDialog={setDialog} />
                </div>
              </ContextMenu>
            )}
          </DropZone>
        </div>
        {preferences.details && !overlaid && (
          <aside className="files-details" aria-label={texts.details}>
            {details}
          </aside>
        )}
      </div>
      {narrow && editable && chosen.length === 0 && <AddButton here={here} setDialog={setDialog} />}
      {sheet && overlaid && (
        <Dialog title={texts.details} onClose={() => setSheet(false)}>
          {details}
        </Dialog>
      )}
      {dialog !== undefined && (
        <Suspense>
          <LazyOpenedDialog
            here={here}
            dialog={dialog}
            changes={changes}
            names={props.entries.map(({ name }) => name)}
            isTaken={isTaken}
            onMade={(name) => setSelection(only(name))}
            onClose={() => setDialog(undefined)}
          />
        </Suspense>
      )}
    </div>
  )
}
