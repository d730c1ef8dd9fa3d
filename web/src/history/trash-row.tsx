import { RotateCcw } from 'lucide-react'
import { Link } from 'wouter'
import { type TrashItem, trashPath } from '../api/index.ts'
import { revisionUrl, snapshotUrl } from '../navigation/index.ts'
import { useFormats, useTexts } from '../texts/index.ts'
import { FileIcon, IconButton, visibleName } from '../ui/index.ts'

/** The page of a deleted entry as it was. */
export function trashItemUrl(libraryId: string, item: TrashItem): string {
  const path = trashPath(item)
  return item.is_dir
    ? snapshotUrl(libraryId, item.commit_id, path)
    : revisionUrl(libraryId, path, item.commit_id)
}

/** One of the entries of an action. */
export function TrashRow(props: {
  libraryId: string
  item: TrashItem
  chosen: boolean
  onChoose: (() => void) | undefined
  onRestore: (() => void) | undefined
}) {
  const { libraryId, item, chosen, onChoose, onRestore } = props
  const texts = useTexts('history')
  const formats = useFormats()
  const { obj_name: name, is_dir: isDir } = item
  const place = item.parent_dir === '/' ? '' : item.parent_dir.replace(/\/$/, '')
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
        <Link to={trashItemUrl(libraryId, item)} className="history-entry" title={name}>
          <bdi>{visibleName(name)}</bdi>
        </Link>
        {(place !== '' || !isDir) && (
          <p className="muted history-who">
            {place !== '' && <bdi title={place}>{place}</bdi>}
            {!isDir && <span>{formats.size(item.size)}</span>}
          </p>
        )}
      </div>
      {onRestore && <IconButton label={texts.restoreThis(name)} icon={RotateCcw} onClick={onRestore} />}
    </li>
  )
}
