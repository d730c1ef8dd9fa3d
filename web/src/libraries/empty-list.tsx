import { LibraryBig, Plus, Upload } from 'lucide-react'
import { useTexts } from '../texts/index.ts'
import { Button, Empty } from '../ui/index.ts'
import { pickFiles, scanOf } from '../uploads/index.ts'
import { useFirstUpload } from './use-first-upload.ts'

/** Shown instead of an empty list. */
export function NoLibraries(props: { onMake: () => void }) {
  const texts = useTexts('libraries')
  const { busy, start } = useFirstUpload()
  return (
    <Empty icon={LibraryBig} title={texts.emptyMine} hint={texts.emptyMineHint}>
      <div className="libraries-first">
        <Button variant="primary" icon={Plus} onClick={props.onMake}>
          {texts.newLibrary}
        </Button>
        <Button
          icon={Upload}
          busy={busy}
          onClick={() => void pickFiles().then((files) => start(scanOf(files, [])))}
        >
          {texts.uploadFiles}
        </Button>
      </div>
    </Empty>
  )
}
