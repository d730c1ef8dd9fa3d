import {
  CalendarClock,
  Download,
  type LucideIcon,
  Share2,
  Star,
  StarOff,
  Tags,
  Trash2,
  X,
} from 'lucide-react'
import { Suspense, useState } from 'react'
import { TagFilesDialog } from '../annotations/index.ts'
import type { Photo } from '../api/index.ts'
import { downloadFiles } from '../archives/index.ts'
import { useProvidedActions } from '../commands/index.ts'
import { nameOf } from '../paths.ts'
import { ShareDialog, ShareManyDialog } from '../sharing/index.ts'
import { useFormats, useTexts } from '../texts/index.ts'
import { IconButton, useFailureToast } from '../ui/index.ts'
import { DatesDialog } from './dates-dialog.tsx'

interface Action {
  readonly label: string
  readonly icon: LucideIcon
  readonly onSelect: () => void
}

/** Actions on the selected photos. The palette has them, too. */
export function PhotosBar(props: {
  photos: readonly Photo[]
  onClear: () => void
  onDelete: () => void
  onStar: (photos: readonly Photo[], starred: boolean) => void
}) {
  const { photos, onClear } = props
  const files = useTexts('files')
  const own = useTexts('photos')
  const common = useTexts('common')
  const commands = useTexts('commands')
  const annotations = useTexts('annotations')
  const formats = useFormats()
  const failed = useFailureToast()
  const [dialog, setDialog] = useState<'share' | 'tags' | 'dates'>()
  const label = files.selected(photos.length, formats.number(photos.length))
  const places = photos.map(({ repo_id, path }) => ({ libraryId: repo_id, path }))
  const areStarred = photos.every(({ starred }) => starred)
  const actions: readonly Action[] = [
    {
      label: areStarred ? own.unfavourite : own.addFavourite,
      icon: areStarred ? StarOff : Star,
      onSelect: () => props.onStar(photos, !areStarred),
    },
    {
      label: common.download,
      icon: Download,
      onSelect: () => void downloadFiles(places).catch(failed),
    },
    { label: common.share, icon: Share2, onSelect: () => setDialog('share') },
    { label: own.changeDates, icon: CalendarClock, onSelect: () => setDialog('dates') },
    { label: annotations.manageTags, icon: Tags, onSelect: () => setDialog('tags') },
    { label: common.delete, icon: Trash2, onSelect: props.onDelete },
  ]
  useProvidedActions([
    { title: commands.selection(photos.length, formats.number(photos.length)), entries: actions },
  ])
  return (
    <div className="photos-bar" role="toolbar" aria-label={label}>
      <IconButton label={files.clearSelection} icon={X} onClick={onClear} />
      <span role="status">{label}</span>
      <span className="photos-bar-end">
        {actions.map((action) => (
          <IconButton key={action.label} label={action.label} icon={action.icon} onClick={action.onSelect} />
        ))}
      </span>
      {dialog === 'tags' && (
        <Suspense>
          <TagFilesDialog files={places} onClose={() => setDialog(undefined)} />
        </Suspense>
      )}
      {dialog === 'dates' && <DatesDialog photos={photos} onClose={() => setDialog(undefined)} />}
      {dialog === 'share' && <SharePhotos photos={photos} onClose={() => setDialog(undefined)} />}
    </div>
  )
}

function SharePhotos(props: { photos: readonly Photo[]; onClose: () => void }) {
  const items = props.photos.map(({ repo_id, path }) => ({
    libraryId: repo_id,
    path,
    name: nameOf(path),
    isDir: false,
  }))
  const [only, ...others] = items
  if (only !== undefined && others.length === 0) return <ShareDialog {...only} onClose={props.onClose} />
  return <ShareManyDialog items={items} onClose={props.onClose} />
}
