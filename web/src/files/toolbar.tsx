import { ArrowDownUp, EllipsisVertical, Info, LayoutGrid, List, Plus, Search, Upload, X } from 'lucide-react'
import type { ReactNode, RefObject } from 'react'
import { useFormats, useTexts } from '../texts/index.ts'
import { Button, IconButton, Menu, type MenuEntry } from '../ui/index.ts'
import type { CurrentFolder } from './current-folder.ts'
import type { OpenDialog } from './dialogs.tsx'
import type { Preferences } from './preferences.ts'
import type { SortKey } from './sorting.ts'
import { useNewMenu, useUploadMenu } from './use-folder-menu.ts'

interface Find {
  readonly box: RefObject<HTMLInputElement | null>
  readonly filter: string
  readonly setFilter: (filter: string) => void
  readonly found: number
  readonly all: number
}

/** Toolbar above the list. Actions on the selection replace its second half, so that uploading stays possible. */
export function Toolbar(props: {
  here: CurrentFolder
  preferences: Preferences
  prefer: (changes: Partial<Preferences>) => void
  menu: readonly MenuEntry[]
  find: Find
  detailsShown: boolean
  onToggleDetails: () => void
  setDialog: (dialog: OpenDialog) => void
  /** The bar of the selection, if something is selected. */
  selection: ReactNode
}) {
  const { here } = props
  const texts = useTexts('files')
  const newMenu = useNewMenu(props.setDialog)
  const uploadMenu = useUploadMenu(here)
  return (
    <div className="files-bar">
      {here.editable && (
        <span className="files-buttons">
          <Menu
            align="start"
            trigger={
              <Button variant="primary" icon={Upload}>
                {texts.upload}
              </Button>
            }
            entries={uploadMenu}
          />
          <Menu align="start" trigger={<Button icon={Plus}>{texts.new}</Button>} entries={newMenu} />
        </span>
      )}
      {props.selection || (
        <>
          <FindBox {...props.find} />
          <span className="files-bar-end">
            <ViewButtons {...props} narrow={false} />
            <IconButton
              className="files-bar-details"
              label={props.detailsShown ? texts.hideDetails : texts.showDetails}
              icon={Info}
              aria-pressed={props.detailsShown}
              onClick={props.onToggleDetails}
            />
            <Menu
              trigger={<IconButton label={texts.moreHere} icon={EllipsisVertical} />}
              entries={props.menu}
            />
          </span>
        </>
      )}
    </div>
  )
}

interface View {
  readonly preferences: Preferences
  readonly prefer: (changes: Partial<Preferences>) => void
  readonly narrow: boolean
}

/** Sort order and view of the list. A wide list is sorted by its column headers. */
function ViewButtons({ preferences, prefer, narrow }: View) {
  const texts = useTexts('files')
  const asGrid = preferences.view === 'grid'
  return (
    <>
      {(asGrid || narrow) && <SortMenu preferences={preferences} prefer={prefer} />}
      <IconButton
        label={asGrid ? texts.showAsList : texts.showAsGrid}
        icon={asGrid ? List : LayoutGrid}
        onClick={() => prefer({ view: asGrid ? 'list' : 'grid' })}
      />
    </>
  )
}

/** Tools of the folder on a phone, next to its name. */
export function PhoneTools(
  props: Omit<View, 'narrow'> & { menu: readonly MenuEntry[]; finding: boolean; onFind: () => void },
) {
  const texts = useTexts('files')
  return (
    <span className="files-bar-end">
      <IconButton label={texts.find} icon={Search} aria-pressed={props.finding} onClick={props.onFind} />
      <ViewButtons {...props} narrow />
      <Menu trigger={<IconButton label={texts.moreHere} icon={EllipsisVertical} />} entries={props.menu} />
    </span>
  )
}

/** The one button of a phone that adds something to the folder. */
export function AddButton(props: { here: CurrentFolder; setDialog: (dialog: OpenDialog) => void }) {
  const texts = useTexts('files')
  const entries = [...useUploadMenu(props.here), 'line' as const, ...useNewMenu(props.setDialog)]
  return (
    <Menu
      trigger={
        <button type="button" className="files-add" aria-label={texts.add} title={texts.add}>
          <Plus size={26} aria-hidden />
        </button>
      }
      entries={entries}
    />
  )
}

/** Filters the list by name. */
export function FindBox({ box, filter, setFilter, found, all }: Find) {
  const texts = useTexts('files')
  const common = useTexts('common')
  const formats = useFormats()
  function clear(): void {
    setFilter('')
    box.current?.focus()
  }
  return (
    <span className="files-find">
      <span className="search-in input-with-button">
        <Search size={17} aria-hidden />
        <input
          ref={box}
          type="search"
          className="input"
          aria-label={texts.find}
          placeholder={texts.find}
          value={filter}
          onChange={(event) => setFilter(event.target.value)}
          onKeyDown={(event) => {
            const { key, currentTarget } = event
            if (key === 'Escape') setFilter('')
            if (key !== 'Escape' && key !== 'ArrowDown' && key !== 'Enter') return
            event.preventDefault()
            currentTarget.closest('.files')?.querySelector<HTMLElement>('[role=grid]')?.focus()
          }}
        />
        {filter !== '' && <IconButton label={common.clear} icon={X} onClick={clear} />}
      </span>
      <span className="files-found muted" role="status">
        {filter.trim() !== '' && texts.found(formats.number(found), formats.number(all))}
      </span>
    </span>
  )
}

function SortMenu(props: { preferences: Preferences; prefer: (changes: Partial<Preferences>) => void }) {
  const { sorting } = props.preferences
  const texts = useTexts('files')
  const common = useTexts('common')
  const labels: Readonly<Record<SortKey, string>> = {
    name: common.name,
    size: common.size,
    mtime: common.modified,
    modifier: texts.modifier,
  }
  const keys = Object.entries(labels) as [SortKey, string][]
  const turns = [
    [false, texts.ascending],
    [true, texts.descending],
  ] as const
  return (
    <Menu
      title={texts.sortBy}
      trigger={<IconButton label={texts.sortBy} icon={ArrowDownUp} />}
      entries={[
        ...keys.map(([key, label]) => ({
          label,
          checked: sorting.key === key,
          onSelect: () => props.prefer({ sorting: { ...sorting, key } }),
        })),
        'line',
        ...turns.map(([descending, label]) => ({
          label,
          checked: sorting.descending === descending,
          onSelect: () => props.prefer({ sorting: { ...sorting, descending } }),
        })),
      ]}
    />
  )
}
