import { FolderOpen, FolderPlus, SearchX, Upload } from 'lucide-react'
import { useTexts } from '../texts/index.ts'
import { Button, COARSE, Empty, useMedia } from '../ui/index.ts'
import type { CurrentFolder } from './current-folder.ts'
import type { OpenDialog } from './dialogs.tsx'
import { upload } from './upload-files.ts'

/** Shown instead of an empty list, or of a filter without matches. */
export function EmptyFolder(props: {
  here: CurrentFolder
  filter: string
  onClear: () => void
  setDialog: (dialog: OpenDialog) => void
}) {
  const { here, filter } = props
  const texts = useTexts('files')
  const canDrop = !useMedia(COARSE)
  if (filter.trim() !== '') {
    return (
      <Empty icon={SearchX} title={texts.nothingFound} hint={texts.nothingFoundHint(filter.trim())}>
        <Button onClick={props.onClear}>{texts.clearFind}</Button>
      </Empty>
    )
  }
  if (!here.editable) return <Empty icon={FolderOpen} title={texts.empty} hint={texts.emptyReadOnly} />
  return (
    <Empty icon={FolderOpen} title={texts.empty} hint={canDrop && texts.emptyHint}>
      <span className="files-buttons">
        <Button variant="primary" icon={Upload} onClick={() => void upload(here)}>
          {texts.uploadFiles}
        </Button>
        <Button icon={FolderPlus} onClick={() => props.setDialog({ kind: 'new-folder' })}>
          {texts.newFolder}
        </Button>
      </span>
    </Empty>
  )
}
