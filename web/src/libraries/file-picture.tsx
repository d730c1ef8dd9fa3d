import { useThumbnail } from '../files/index.ts'
import { nameOf, parentOf } from '../paths.ts'
import { FileIcon } from '../ui/index.ts'

/** For screens with two pixels for one. */
const PIXELS = 96

/** The thumbnail of a file outside of its folder, or its icon. */
export function FilePicture(props: {
  libraryId: string
  path: string
  isDir?: boolean
  isEncrypted: boolean
  /** Changes with the content, such as the time of the last change. */
  version: string
}) {
  const { libraryId, path, isDir = false, isEncrypted, version } = props
  const name = nameOf(path)
  const thumbnail = useThumbnail(
    { libraryId, path: parentOf(path), encrypted: isEncrypted },
    // The size is not known here. A file that is too large has no thumbnail on the server either.
    { type: isDir ? 'dir' : 'file', id: `${path} ${version}`, name, size: 1 },
    PIXELS,
  )
  return (
    <span className="libraries-picture">
      {thumbnail === undefined ? <FileIcon name={name} isDir={isDir} /> : <img src={thumbnail} alt="" />}
    </span>
  )
}
