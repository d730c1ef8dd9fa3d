import { CircleAlert, CircleCheck, FolderOpen, Pause, Play, RotateCw, X } from 'lucide-react'
import { Link } from 'wouter'
import { errorForStatus } from '../api/index.ts'
import { folderUrl } from '../navigation/index.ts'
import { useFormats, useTexts } from '../texts/index.ts'
import { FileIcon, IconButton, Progress, useErrorMessage, useToast, visibleName } from '../ui/index.ts'
import { engine } from './browser-engine.ts'
import { canResume } from './engine.ts'
import { pickFiles } from './file-picker.ts'
import type { Upload } from './queue.ts'
import { folderOf } from './transfer.ts'

export function TrayRow(props: { upload: Upload }) {
  const { upload } = props
  const texts = useTexts('uploads')
  const { name, state, size, sent, isFolder } = upload
  const place = upload.folder === '' ? name : `${upload.folder}/${name}`
  return (
    <>
      <FileIcon name={name} isDir={isFolder} size={20} />
      <div className="tray-row-text">
        <span className="tray-row-name" title={place}>
          <bdi>{visibleName(name)}</bdi>
        </span>
        <RowAbout upload={upload} />
        {state === 'sending' && size > 0 && <Progress value={sent / size} label={texts.progressOf(name)} />}
      </div>
      <RowButtons upload={upload} />
    </>
  )
}

function RowAbout(props: { upload: Upload }) {
  const { state, size, sent, failure, isFolder } = props.upload
  const texts = useTexts('uploads')
  const formats = useFormats()
  const wording = useErrorMessage()
  if (state === 'failed') {
    const words = texts.failures[failure?.kind ?? 'refused']
    const isSaid = failure?.kind === 'refused' && failure.message !== ''
    return (
      <span className="tray-row-about tray-row-bad" title={failure?.message || words}>
        <CircleAlert size={13} aria-hidden /> {isSaid ? wording(errorForStatus(400, failure.message)) : words}
      </span>
    )
  }
  if (state === 'lost') return <span className="tray-row-about tray-row-bad">{texts.lost}</span>
  const total = isFolder ? '' : formats.size(size)
  const words = {
    waiting: [texts.waiting, total],
    paused: [texts.pausedOne, total],
    done: [total],
    sending: [sent > 0 && size > 0 ? texts.sentOf(formats.size(sent), total) : texts.sending],
  }[state]
  return <span className="tray-row-about">{words.filter(Boolean).join(' · ')}</span>
}

function RowButtons(props: { upload: Upload }) {
  const { upload } = props
  const { state, name } = upload
  const texts = useTexts('uploads')
  const toast = useToast()

  async function choose(): Promise<void> {
    if (await engine.reopen(upload)) return
    const files = await pickFiles()
    if (files.length > 0 && engine.rechoose(files) === 0) toast({ text: texts.notTheSame, bad: true })
  }

  if (state === 'done') {
    return (
      <>
        <CircleCheck size={18} className="tray-row-good" role="img" aria-label={texts.doneOne} />
        <Link
          to={folderUrl(upload.libraryId, folderOf(upload))}
          className="icon-button"
          aria-label={texts.showOne(name)}
          title={texts.showInFolder}
        >
          <FolderOpen size={18} aria-hidden />
        </Link>
      </>
    )
  }
  return (
    <>
      {(state === 'waiting' || state === 'sending') && (
        <IconButton
          label={texts.pauseOne(name)}
          icon={Pause}
          size={17}
          onClick={() => engine.pause(upload)}
        />
      )}
      {state === 'paused' && (
        <IconButton
          label={texts.resumeOne(name)}
          icon={Play}
          size={17}
          onClick={() => engine.resume(upload)}
        />
      )}
      {state === 'failed' && canResume(upload) && (
        <IconButton
          label={texts.retryOne(name)}
          icon={RotateCw}
          size={17}
          onClick={() => engine.resume(upload)}
        />
      )}
      {state === 'lost' && (
        <IconButton label={texts.chooseOne(name)} icon={FolderOpen} size={17} onClick={() => void choose()} />
      )}
      <IconButton label={texts.cancelOne(name)} icon={X} size={17} onClick={() => engine.cancel(upload)} />
    </>
  )
}
