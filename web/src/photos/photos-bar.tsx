import { useQueryClient } from '@tanstack/react-query'
import { Download, Trash2, X } from 'lucide-react'
import { useState } from 'react'
import { deleteEntries, downloadFile, type Photo, refreshPhotos } from '../api/index.ts'
import { startArchive } from '../archives/index.ts'
import { nameOf, parentOf } from '../paths.ts'
import { useFormats, useTexts } from '../texts/index.ts'
import { ConfirmDialog, IconButton, useFailureToast } from '../ui/index.ts'

/** Actions on the selected photos. */
export function PhotosBar({ photos, onClear }: { photos: readonly Photo[]; onClear: () => void }) {
  const files = useTexts('files')
  const texts = useTexts('photos')
  const common = useTexts('common')
  const formats = useFormats()
  const failed = useFailureToast()
  const queries = useQueryClient()
  const [isAsking, setAsking] = useState(false)
  const label = files.selected(photos.length, formats.number(photos.length))
  const onDelete = async () => {
    for (const { libraryId, folder, names } of foldersOf(photos))
      await deleteEntries({ libraryId, folder, names })
    onClear()
    await refreshPhotos(queries)
  }
  return (
    <div className="photos-bar" role="toolbar" aria-label={label}>
      <IconButton label={files.clearSelection} icon={X} onClick={onClear} />
      <span role="status">{label}</span>
      <span className="photos-bar-end">
        <IconButton
          label={common.download}
          icon={Download}
          onClick={() => void downloadPhotos(photos).catch(failed)}
        />
        <IconButton label={common.delete} icon={Trash2} onClick={() => setAsking(true)} />
      </span>
      {isAsking && (
        <ConfirmDialog
          title={texts.deleteTitle(photos.length, formats.number(photos.length))}
          text={texts.deleteHint}
          submit={common.delete}
          onConfirm={onDelete}
          onClose={() => setAsking(false)}
        />
      )}
    </div>
  )
}

/** A single photo directly, others as one archive per folder. */
async function downloadPhotos(photos: readonly Photo[]): Promise<void> {
  const [only, ...others] = photos
  if (only !== undefined && others.length === 0) return downloadFile(only.repo_id, only.path)
  for (const { libraryId, folder, names } of foldersOf(photos))
    startArchive({ libraryId, parent: folder, names })
}

function foldersOf(photos: readonly Photo[]) {
  const groups = Map.groupBy(photos, ({ repo_id, path }) => `${repo_id} ${parentOf(path)}`)
  return Array.from(groups.values(), (some) => ({
    libraryId: some[0]?.repo_id ?? '',
    folder: parentOf(some[0]?.path ?? '/'),
    names: some.map(({ path }) => nameOf(path)),
  }))
}
