import { EllipsisVertical, Info, LayoutGrid, List, Plus, Search, Upload } from 'lucide-react'
import type { ReactNode } from 'react'
import { useTexts } from '../texts/index.ts'
import { Button, IconButton, Menu, type MenuEntry } from '../ui/index.ts'
import type { CurrentFolder } from './current-folder.ts'
import type { OpenDialog } from './dialogs.tsx'
import { type Find, FindBox } from './find-box.tsx'
import type { Preferences } from './preferences.ts'
import { SortMenu } from './sort-menu.tsx'
import { useNewMenu, useUploadMenu } from './use-folder-menu.ts'

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
