import { RotateCcw } from 'lucide-react'
import { Link } from 'wouter'
import { type TrashItem, trashPath } from '../api/index.ts'
import { revisionUrl, snapshotUrl } from '../navigation/index.ts'
import { useFormats, useTexts } from '../texts/index.ts'
import { FileIcon, IconButton, visibleName } from '../ui/index.ts'

export function TrashRow(props: {
  libraryId: string
  /** Shown in the trash of all libraries. */
  libraryName?: string
  item: TrashItem
  chosen: boolean
  onChoose: (() => void) | undefined
  onRestore: (() => void) | undefined
}) {
  const { libraryId, item, chosen, onChoose, onRestore } = props
  const texts = useTexts('history')
  const formats = useFormats()
  const { obj_name: name, is_dir: isDir, commit_id: commitId } = item
  const path = trashPath(item)
  // The root of a library is shown by its name alone.
  const place = `${props.libraryName ?? ''}${item.parent_dir === '/' ? '' : item.parent_dir.replace(/\/$/, '')}`
  const address = isDir ? snapshotUrl(libraryId, commitId, path) : revisionUrl(libraryId, path, commitId)
  return (
    <li className={chosen ? 'trash-chosen' : ''}>
      {onChoose && (
        <input
          type="checkbox"
          className="history-check"
          aria-label={texts.choose(name)}
          checked={chosen}
          onChange={onChoose}
        />
      )}
      <FileIcon name={name} isDir={isDir} />
      <div className="history-what">
        <Link to={address} className="history-entry" title={name}>
          <bdi>{visibleName(name)}</bdi>
        </Link>
        <p className="muted history-who">
          {place !== '' && <bdi title={place}>{place}</bdi>}
          <time dateTime={item.deleted_time} title={formats.moment(item.deleted_time)}>
            {texts.deletedAgo(formats.ago(item.deleted_time))}
          </time>
          {!isDir && <span>{formats.size(item.size)}</span>}
        </p>
      </div>
      {onRestore && <IconButton label={texts.restoreThis(name)} icon={RotateCcw} onClick={onRestore} />}
    </li>
  )
}
