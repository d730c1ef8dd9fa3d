import { Copy, Download, EllipsisVertical, FolderInput, Info, Share2, Tags, Trash2, X } from 'lucide-react'
import type { Entry } from '../api/index.ts'
import { useFormats, useTexts } from '../texts/index.ts'
import { IconButton, Menu, type MenuEntry, useFailureToast } from '../ui/index.ts'
import { type CurrentFolder, canShareMany, canTag, entryPath } from './current-folder.ts'
import type { OpenDialog } from './dialogs.tsx'
import { download } from './download-entries.ts'

/** Bar above the list while something is selected. */
export function SelectionBar(props: {
  here: CurrentFolder
  entries: readonly Entry[]
  menu: readonly MenuEntry[]
  onClear: () => void
  onDelete: () => void
  setDialog: (dialog: OpenDialog) => void
  detailsShown: boolean
  onToggleDetails: () => void
}) {
  const { here, entries, setDialog } = props
  const texts = useTexts('files')
  const common = useTexts('common')
  const annotations = useTexts('annotations')
  const formats = useFormats()
  const failed = useFailureToast()
  const names = entries.map(({ name }) => name)
  const size = entries.reduce((sum, entry) => sum + (entry.size ?? 0), 0)
  const [entry] = entries
  const isOne = entries.length === 1 && entry !== undefined
  return (
    <div
      className="files-selection-bar"
      role="toolbar"
      aria-label={texts.selected(entries.length, formats.number(entries.length))}
    >
      <IconButton label={texts.clearSelection} icon={X} onClick={props.onClear} />
      <span className="files-count" role="status">
        {texts.selected(entries.length, formats.number(entries.length))}
        {size > 0 && <span className="files-count-size"> · {formats.size(size)}</span>}
      </span>
      <span className="files-bar-end">
        <IconButton
          label={common.download}
          icon={Download}
          onClick={() => void download(here, entries).catch(failed)}
        />
        {(isOne || canShareMany(here)) && (
          <IconButton
            label={common.share}
            icon={Share2}
            onClick={() =>
              setDialog(
                isOne
                  ? {
                      kind: 'share',
                      path: entryPath(here, entry),
                      name: entry.name,
                      isDir: entry.type === 'dir',
                    }
                  : { kind: 'share-many', entries },
              )
            }
          />
        )}
        {here.editable && (
          <IconButton
            label={texts.moveTo}
            icon={FolderInput}
            onClick={() => setDialog({ kind: 'move', names })}
          />
        )}
        <IconButton label={texts.copyTo} icon={Copy} onClick={() => setDialog({ kind: 'copy', names })} />
        {canTag(here, entries) && (
          <IconButton
            className="files-bar-tags"
            label={annotations.manageTags}
            icon={Tags}
            onClick={() => setDialog({ kind: 'tags', entries })}
          />
        )}
        {here.editable && <IconButton label={common.delete} icon={Trash2} onClick={props.onDelete} />}
        <IconButton
          className="files-bar-details"
          label={props.detailsShown ? texts.hideDetails : texts.showDetails}
          aria-pressed={props.detailsShown}
          icon={Info}
          onClick={props.onToggleDetails}
        />
        <Menu trigger={<IconButton label={common.more} icon={EllipsisVertical} />} entries={props.menu} />
      </span>
    </div>
  )
}
