import { memo } from 'react'
import type { Entry, SharedSign } from '../api/index.ts'
import { useFolderDetail } from '../api/index.ts'
import { useFormats, useTexts } from '../texts/index.ts'
import { FileIcon, usePlaceholder } from '../ui/index.ts'
import { visitedLink } from '../visited-link.ts'
import { type CurrentFolder, entryPath } from './current-folder.ts'
import { EntryName, EntrySigns, NameEditor } from './entry-name.tsx'
import { RowPicture } from './entry-picture.tsx'
import { useThumbnail } from './thumbnails.ts'

/** Props of one row or tile. The list handles its events. */
interface ItemProps {
  readonly here: CurrentFolder
  readonly entry: Entry
  readonly place: number
  readonly chosen: boolean
  readonly active: boolean
  readonly dropping: boolean
  /** Whether it will move when it is pasted. */
  readonly cut: boolean
  /** How it is shared, if the user manages shares here. */
  readonly shared: SharedSign | undefined
  readonly draggable: boolean
  readonly narrow: boolean
  readonly folderSizes: boolean
  /** Describes the thumbnail of a tile until that is loaded. */
  readonly thumbhash: string | undefined
  /** Whether another entry of the folder has a name. */
  readonly isTaken: (name: string) => boolean
  /** Set while the entry is being renamed. */
  readonly onRenamed: ((newName: string | undefined) => void) | undefined
}

export const itemId = (place: number) => `files-item-${place}`

/** Folders accept dropped files for themselves; see DropZone. */
const uploadPath = ({ here, entry }: ItemProps) =>
  entry.type === 'dir' && here.editable ? entryPath(here, entry) : undefined

const classOf = (base: string, { chosen, active, dropping, cut }: ItemProps) =>
  `${base}${chosen ? ' files-chosen' : ''}${active ? ' files-active' : ''}${dropping ? ' files-drop' : ''}${cut ? ' files-cut' : ''}`

export const EntryRow = memo(function EntryRow(props: ItemProps) {
  const { here, entry, place, chosen, narrow } = props
  const formats = useFormats()
  return (
    <div
      id={itemId(place)}
      className={classOf('files-row', props)}
      role="row"
      aria-rowindex={place + (narrow ? 1 : 2)}
      aria-selected={chosen}
      data-place={place}
      data-upload-into={uploadPath(props)}
      draggable={props.draggable && props.onRenamed === undefined}
    >
      <span role="gridcell" className="files-cell-check">
        <Check entry={entry} chosen={chosen} />
      </span>
      <span role="gridcell" className="files-cell-name">
        <RowPicture here={here} entry={entry} />
        {props.onRenamed ? (
          <NameEditor key={entry.name} entry={entry} isTaken={props.isTaken} onDone={props.onRenamed} />
        ) : (
          <span className="files-cell-text">
            <EntryName here={here} entry={entry} />
            {narrow && (
              <span className="files-under muted">
                <Size {...props} />
                <span>{formats.ago(entry.mtime)}</span>
              </span>
            )}
          </span>
        )}
        <EntrySigns entry={entry} shared={props.shared} />
        {!narrow && props.onRenamed === undefined && <QuickActions />}
      </span>
      {!narrow && (
        <>
          <span role="gridcell" className="files-cell muted files-cell-size">
            <Size {...props} />
          </span>
          <span role="gridcell" className="files-cell muted" title={formats.moment(entry.mtime)}>
            {formats.when(entry.mtime)}
          </span>
          <span role="gridcell" className="files-cell muted files-cell-modifier" title={entry.modifier_email}>
            <bdi>
              <Modifier entry={entry} />
            </bdi>
          </span>
        </>
      )}
      <span role="gridcell" className="files-cell-more">
        <More entry={entry} />
      </span>
    </div>
  )
})

const TILE_PIXELS = 256

/** Who changed a file last, or that a visitor uploaded it. */
function Modifier({ entry }: { entry: Entry }) {
  const common = useTexts('common')
  const { modifier_name: name = '', modifier_via_link: isVisitor } = entry
  return isVisitor ? common.visitor(name) : name
}

export const EntryTile = memo(function EntryTile(props: ItemProps) {
  const { here, entry, place, chosen } = props
  const formats = useFormats()
  const thumbnail = useThumbnail(here, entry, TILE_PIXELS)
  return (
    <div
      id={itemId(place)}
      className={classOf('files-tile', props)}
      role="gridcell"
      aria-selected={chosen}
      data-place={place}
      data-upload-into={uploadPath(props)}
      draggable={props.draggable && props.onRenamed === undefined}
    >
      <span className="files-tile-picture">
        {thumbnail === undefined ? (
          <TilePlaceholder entry={entry} thumbhash={props.thumbhash} />
        ) : (
          <img src={thumbnail} alt="" draggable={false} />
        )}
      </span>
      <span className="files-tile-foot">
        {props.onRenamed ? (
          <NameEditor entry={entry} isTaken={props.isTaken} onDone={props.onRenamed} />
        ) : (
          <EntryName here={here} entry={entry} />
        )}
        <span className="files-under muted">
          <EntrySigns entry={entry} shared={props.shared} />
          {entry.type === 'dir' && !props.folderSizes ? (
            <span>{formats.ago(entry.mtime)}</span>
          ) : (
            <Size {...props} />
          )}
        </span>
      </span>
      <Check entry={entry} chosen={chosen} />
      <More entry={entry} />
    </div>
  )
})

/** The coarse image of a photo until its thumbnail is loaded, otherwise an icon. */
function TilePlaceholder({ entry, thumbhash }: { entry: Entry; thumbhash: string | undefined }) {
  const placeholder = usePlaceholder(thumbhash)
  if (placeholder === undefined) return <FileIcon name={entry.name} isDir={entry.type === 'dir'} size={52} />
  return <img className="files-placeholder" src={placeholder} alt="" draggable={false} />
}

function Check(props: { entry: Entry; chosen: boolean }) {
  const texts = useTexts('files')
  return (
    <label className="files-check" data-part="check">
      <input
        type="checkbox"
        tabIndex={-1}
        readOnly
        checked={props.chosen}
        aria-label={texts.select(props.entry.name)}
      />
    </label>
  )
}

function More(props: { entry: Entry }) {
  const texts = useTexts('files')
  const label = texts.moreFor(props.entry.name)
  return (
    <button
      type="button"
      className="icon-button files-more"
      data-part="more"
      tabIndex={-1}
      aria-haspopup="menu"
      aria-label={label}
    >
      {/* The icon is drawn by the style sheet, which saves an SVG in each of many rows. */}
      <span className="files-dots" />
    </button>
  )
}

/**
 * Pointer shortcuts for the most frequent actions. The list handles the clicks. Hidden from assistive technology, which
 * finds the same actions in the menu.
 */
function QuickActions() {
  const common = useTexts('common')
  return (
    <span className="files-quick" aria-hidden>
      {visitedLink === undefined && (
        <span className="icon-button" data-part="share" title={common.share}>
          <span className="files-mask files-mask-share" />
        </span>
      )}
      {visitedLink?.canDownload !== false && (
        <span className="icon-button" data-part="download" title={common.download}>
          <span className="files-mask files-mask-download" />
        </span>
      )}
    </span>
  )
}

function Size({ here, entry, folderSizes }: ItemProps) {
  const formats = useFormats()
  if (entry.type === 'file') return <span>{formats.size(entry.size ?? 0)}</span>
  return folderSizes ? <FolderSize libraryId={here.libraryId} path={entryPath(here, entry)} /> : null
}

function FolderSize(props: { libraryId: string; path: string }) {
  const formats = useFormats()
  const { data } = useFolderDetail(props.libraryId, props.path)
  return <span>{data === undefined ? '…' : formats.size(data.size)}</span>
}
