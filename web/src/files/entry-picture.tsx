import type { Entry } from '../api/index.ts'
import { FileIcon } from '../ui/index.ts'
import type { CurrentFolder } from './current-folder.ts'
import { useThumbnail } from './thumbnails.ts'

/** For screens with two pixels for one. */
const ROW_PIXELS = 96

/** The thumbnail of an entry in a row, or its icon. Both take the same space, so that nothing moves when it arrives. */
export function RowPicture({ here, entry }: { here: CurrentFolder; entry: Entry }) {
  const thumbnail = useThumbnail(here, entry, ROW_PIXELS)
  return (
    <span className="files-row-picture">
      {thumbnail === undefined ? (
        <FileIcon name={entry.name} isDir={entry.type === 'dir'} />
      ) : (
        <img src={thumbnail} alt="" draggable={false} />
      )}
    </span>
  )
}
