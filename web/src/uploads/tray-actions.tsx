import { FolderOpen, Pause, Play, RotateCw, X } from 'lucide-react'
import { folderUrl } from '../navigation/index.ts'
import { useTexts } from '../texts/index.ts'
import { Button, ButtonLink, useToast } from '../ui/index.ts'
import { engine } from './browser-engine.ts'
import { canResume } from './engine.ts'
import { pickFiles } from './file-picker.ts'
import type { Upload } from './queue.ts'

/** Actions on all uploads. */
export function TrayActions() {
  const texts = useTexts('uploads')
  const toast = useToast()
  const { queue, lastTarget } = engine
  const { counts } = queue.totals
  const retryable = [...queue.uploads].some(canRetry)

  async function choose(): Promise<void> {
    const files = await pickFiles()
    if (files.length > 0 && engine.rechoose(files) === 0) toast({ text: texts.notTheSame, bad: true })
  }

  const isOver = !queue.isBusy && counts.paused === 0
  return (
    <div className="tray-actions">
      {queue.isBusy && (
        <Button variant="quiet" icon={Pause} onClick={() => engine.pauseAll()}>
          {texts.pauseAll}
        </Button>
      )}
      {counts.paused > 0 && !queue.isBusy && (
        <Button variant="quiet" icon={Play} onClick={() => engine.resumeAll('paused')}>
          {texts.resumeAll}
        </Button>
      )}
      {!isOver && (
        <Button variant="quiet" icon={X} onClick={() => engine.cancelAll()}>
          {texts.cancelAll}
        </Button>
      )}
      {retryable && (
        <Button variant="quiet" icon={RotateCw} onClick={() => engine.resumeAll('failed')}>
          {texts.retryAll}
        </Button>
      )}
      {counts.lost > 0 && (
        <Button variant="quiet" icon={FolderOpen} onClick={() => void choose()}>
          {texts.chooseAgain}
        </Button>
      )}
      {isOver && counts.done > 0 && lastTarget && (
        <ButtonLink variant="quiet" icon={FolderOpen} to={folderUrl(lastTarget.libraryId, lastTarget.path)}>
          {texts.showInFolder}
        </ButtonLink>
      )}
    </div>
  )
}

const canRetry = (upload: Upload) => upload.state === 'failed' && canResume(upload)
